use watertight::__private as P;
use std::pin::pin;
static SITE: P::Site = P::Site::new(P::Declaration::new("hand", module_path!(), file!(), line!())
  .timeout(P::timeout::Config::new(300_000_000)).bulkhead(P::bulkhead::Config::new("recs", 8).queue(16))
  .breaker(P::breaker::Config::own()).retry(P::retry::Config::new(2)).fallback());
P::list!(SITE);
#[derive(Debug)] struct E;
async fn hand(v: u32) -> Result<Vec<u32>, E> {
    let mut call = pin!(P::Call::begin(&SITE));
    let mut given = P::Given::new(v);
    let end = loop {
        let v = given.give(call.is_last());
        let body = pin!(Some(async { let v = v; if v == 0 { Err(E) } else if v == 1 { std::future::pending().await } else { Ok(vec![v]) } }));
        use P::judge::*;
        match P::attempt(call.as_mut(), body, |o| (&&&P::Judged(o)).verdict(), |o| (&&P::Keep::new(o)).keep()).await {
            P::Step::End(e) => break e, P::Step::Again => {}
        }
    };
    use P::judge::*;
    P::fall_back((&P::Returned::of(&end)).shape(), call.as_mut(), end, Vec::new).await
}
#[tokio::test(start_paused = true)]
async fn it() {
    assert_eq!(hand(5).await.unwrap(), vec![5]);
    assert_eq!(hand(1).await.unwrap(), vec![]);
    assert_eq!(hand(0).await.unwrap(), vec![]);
    let s = watertight::snapshot();
    println!("{s}");
    println!("{:?}", s.sites);
    println!("size {}", std::mem::size_of::<P::Call>());
}
