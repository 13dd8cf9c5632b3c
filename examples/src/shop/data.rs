//! # The stock
//!
//! Queries are deliberately cheap, each far below a millisecond. Whatever is slow in this experiment is slow because it
//! waits for a connection, never because of what it does with one.
//!
//! Invariants:
//! * handlers only read, so no query ever waits for another one's lock.

use sqlx::sqlite::{SqliteConnection, SqlitePool};

/// Products in stock; ids count from 0.
pub(super) const PRODUCTS: i64 = 100;

const STOCK: &[&str] = &[
    "create table products (id integer primary key, name text not null, cents integer not null)",
    "create table carts (user integer not null, product integer not null, primary key (user, product))",
    "create table viewed (user integer not null, product integer not null, primary key (user, product))",
    "with recursive n(i) as (select 0 union all select i + 1 from n where i < 99)
     insert into products select i, 'Thing ' || i, 100 + i * 37 from n",
    "insert into carts select id, (id * 7) % 100 from products",
    "insert into viewed select id, (id * 3) % 100 from products union select id, (id * 3 + 1) % 100 from products",
];

pub(super) async fn stock(pool: &SqlitePool) -> sqlx::Result<()> {
    for statement in STOCK {
        sqlx::query(*statement).execute(pool).await?;
    }
    Ok(())
}

pub(super) async fn product(connection: &mut SqliteConnection, id: i64) -> sqlx::Result<(String, i64)> {
    sqlx::query_as("select name, cents from products where id = ?").bind(id % PRODUCTS).fetch_one(connection).await
}

pub(super) async fn cart_size(connection: &mut SqliteConnection, user: i64) -> sqlx::Result<i64> {
    sqlx::query_scalar("select count(*) from carts where user = ?").bind(user).fetch_one(connection).await
}

pub(super) async fn viewed(connection: &mut SqliteConnection, user: i64) -> sqlx::Result<Vec<i64>> {
    sqlx::query_scalar("select product from viewed where user = ?").bind(user % PRODUCTS).fetch_all(connection).await
}
