//! "No data" must not look like "no such function": the catalogue lists every annotated function of the binary.

use watertight::export::Publisher;
use watertight::metrics::names;
use watertight::resilient;
use watertight_tests::AppError;

use crate::Exporter;

#[resilient(timeout = "1s")]
async fn listed_uncalled() -> Result<(), AppError> {
    Ok(())
}

#[allow(dead_code)] // that is what this is about: not even named anywhere
#[resilient(timeout = "1s")]
async fn listed_dead() -> Result<(), AppError> {
    Ok(())
}

#[resilient(timeout = "1s")]
async fn listed_generic<T: Send>(_value: T) -> Result<(), AppError> {
    Ok(())
}

mod deeper {
    pub(super) mod still {
        use watertight::resilient;
        use watertight_tests::AppError;

        #[resilient(timeout = "1s")]
        pub(crate) async fn listed_deep() -> Result<(), AppError> {
            Ok(())
        }
    }
}

struct Service;

impl Service {
    #[resilient(timeout = "1s")]
    async fn listed_method(&self) -> Result<(), AppError> {
        Ok(())
    }
}

fn rows(name: &str) -> Vec<(&'static str, u64)> {
    watertight::snapshot().sites.iter().filter(|site| site.name == name).map(|site| (site.module, site.calls)).collect()
}

#[tokio::test(start_paused = true)]
async fn functions_are_listed_whether_called_or_not_and_once_each() {
    assert_eq!(rows("listed_uncalled"), [("metrics::catalogue", 0)]);
    assert_eq!(rows("listed_dead"), [("metrics::catalogue", 0)]);
    assert_eq!(rows("listed_method"), [("metrics::catalogue", 0)]);
    assert_eq!(rows("listed_deep"), [("metrics::catalogue::deeper::still", 0)]);
    assert_eq!(rows("listed_generic"), [("metrics::catalogue", 0)], "before there is any type of it");
    listed_uncalled().await.unwrap();
    Service.listed_method().await.unwrap();
    deeper::still::listed_deep().await.unwrap();
    listed_generic(1_u8).await.unwrap();
    listed_generic("text").await.unwrap();
    assert_eq!(rows("listed_uncalled"), [("metrics::catalogue", 1)], "a call does not list it again");
    assert_eq!(rows("listed_generic"), [("metrics::catalogue", 2)], "one row for all types");
    let scrape = Exporter::new().publish(&mut Publisher::new());
    assert!((scrape.sum(names::CALLS, &[("function", "listed_generic")]) - 2.0).abs() < 1e-9);
    assert!(scrape.sum(names::CALLS, &[("function", "listed_dead")]).abs() < 1e-9);
    assert!(!scrape.all(names::CALLS, &[("function", "listed_dead")]).is_empty());
}

#[test]
fn a_row_says_where_the_function_stands() {
    let snapshot = watertight::snapshot();
    let row = snapshot.site("listed_deep").unwrap();
    assert!(row.file.ends_with("metrics/catalogue.rs"), "{}", row.file);
    let source = include_str!("catalogue.rs");
    let line = source.lines().position(|line| line.contains("async fn listed_deep")).unwrap() + 1;
    assert!(row.line as usize == line || row.line as usize == line - 1, "{} instead of {line}", row.line);
    let sorted = snapshot.sites.windows(2).all(|pair| (pair[0].module, pair[0].line) <= (pair[1].module, pair[1].line));
    assert!(sorted, "in the order of module and line");
}
