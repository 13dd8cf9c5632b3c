//! Repositories over a pool: one over traits, one with transactions, one generic over the executor.

use serde::{Deserialize, Serialize};
use sqlx::sqlite::{SqlitePool, SqlitePoolOptions, SqliteRow};
use sqlx::{FromRow, Row, Sqlite, SqliteConnection, Transaction};
use watertight::resilient;

use crate::error::AppError;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct User {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) email: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct NewUser {
    pub(crate) name: String,
    pub(crate) email: Option<String>,
}

impl<'r> FromRow<'r, SqliteRow> for User {
    fn from_row(row: &'r SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self { id: row.try_get("id")?, name: row.try_get("name")?, email: row.try_get("email")? })
    }
}

pub(crate) trait Repository {
    type Key: Send;

    fn find(&self, key: Self::Key) -> impl Future<Output = Result<User, AppError>> + Send;
    fn create(&self, user: NewUser) -> impl Future<Output = Result<User, AppError>> + Send;
    fn remove(&self, key: Self::Key) -> impl Future<Output = Result<(), AppError>> + Send;
}

pub(crate) struct SqliteUsers {
    pool: SqlitePool,
}

#[resilient(name = "users", timeout = "2s", bulkhead = "sqlite:4/queue:64", retry = 2)]
impl Repository for SqliteUsers {
    type Key = i64;

    async fn find(&self, key: i64) -> Result<User, AppError> {
        Ok(sqlx::query_as("SELECT id, name, email FROM users WHERE id = ?").bind(key).fetch_one(&self.pool).await?)
    }

    #[resilient(retry = off)]
    async fn create(&self, user: NewUser) -> Result<User, AppError> {
        if user.name.is_empty() {
            return Err(AppError::Invalid("a user has a name"));
        }
        let mut transaction = self.pool.begin().await?;
        let id = insert(&mut transaction, &user).await?;
        log(&mut transaction, "created").await?;
        transaction.commit().await?;
        let NewUser { name, email } = user;
        Ok(User { id, name, email })
    }

    #[resilient(retry = off)]
    async fn remove(&self, key: i64) -> Result<(), AppError> {
        let done = sqlx::query("DELETE FROM users WHERE id = ?").bind(key).execute(&self.pool).await?;
        if done.rows_affected() == 0 { Err(AppError::NotFound) } else { Ok(()) }
    }
}

#[resilient(timeout = "1s")]
async fn insert(connection: &mut SqliteConnection, user: &NewUser) -> Result<i64, AppError> {
    let query = sqlx::query("INSERT INTO users (name, email) VALUES (?, ?)").bind(&user.name).bind(&user.email);
    Ok(query.execute(connection).await?.last_insert_rowid())
}

#[resilient(timeout = "1s")]
async fn log(transaction: &mut Transaction<'_, Sqlite>, what: &'static str) -> Result<(), AppError> {
    sqlx::query("INSERT INTO log (what) VALUES (?)").bind(what).execute(&mut **transaction).await?;
    Ok(())
}

#[resilient(timeout = "1s", retry = 1, fallback = || 0)]
pub(crate) async fn count<'e, E>(executor: E) -> Result<i64, AppError>
where
    E: sqlx::Executor<'e, Database = Sqlite> + Clone,
{
    Ok(sqlx::query_scalar("SELECT count(*) FROM users").fetch_one(executor).await?)
}

#[resilient(timeout = "2s", breaker(name = "sqlite", on = AppError::is_outage))]
impl SqliteUsers {
    pub(crate) async fn in_memory() -> Result<Self, AppError> {
        let pool = SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:").await?;
        for table in ["users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT)", "log (what TEXT NOT NULL)"] {
            sqlx::query(sqlx::AssertSqlSafe(format!("CREATE TABLE {table}"))).execute(&pool).await?;
        }
        Ok(Self { pool })
    }

    pub(crate) async fn search(&self, start: &str, limit: u32) -> Result<Vec<User>, AppError> {
        let query = sqlx::query_as("SELECT id, name, email FROM users WHERE name LIKE ? || '%' ORDER BY id LIMIT ?");
        Ok(query.bind(start).bind(limit).fetch_all(&self.pool).await?)
    }

    #[resilient(breaker = off, fallback = || None)]
    pub(crate) async fn email(&self, id: i64) -> Option<String> {
        let found = sqlx::query("SELECT email FROM users WHERE id = ?").bind(id).fetch_optional(&self.pool).await;
        found.ok()??.try_get("email").ok()
    }

    #[resilient(timeout = off, breaker = off, deadline = "3s", fallback = self.guess(&names))]
    pub(crate) async fn rename(&self, names: Vec<(i64, String)>) -> Result<u64, AppError> {
        let mut changed = 0;
        for (id, name) in &names {
            let query = sqlx::query("UPDATE users SET name = ? WHERE id = ?").bind(name).bind(id);
            changed += query.execute(&self.pool).await?.rows_affected();
        }
        Ok(changed)
    }

    pub(crate) async fn count(&self) -> Result<i64, AppError> {
        count(&self.pool).await
    }

    pub(crate) async fn stream<F: FnMut(User) + Send>(&self, mut each: F) -> Result<(), AppError> {
        use futures::TryStreamExt;
        let mut rows = sqlx::query_as::<_, User>("SELECT id, name, email FROM users").fetch(&self.pool);
        while let Some(user) = rows.try_next().await? {
            each(user);
        }
        Ok(())
    }

    fn guess(&self, names: &[(i64, String)]) -> u64 {
        if self.pool.is_closed() { 0 } else { names.len() as u64 }
    }
}
