async fn f() -> Result<Vec<u8>, AppError> {
    static __WT_SITE: crate::facade::watertight::__private::Site = crate::facade::watertight::__private::Site::of(
        "recs",
        ::core::module_path!(),
        ::core::file!(),
        ::core::line!(),
        [
            crate::facade::watertight::__private::Setting::Timeout(300000000u64),
            crate::facade::watertight::__private::Setting::Deadline(2000000000u64),
            crate::facade::watertight::__private::Setting::Bulkhead(
                crate::facade::watertight::__private::bulkhead::Config::new("recs", 8u32)
                    .queue(16u32)
                    .wait(100000000u64),
            ),
            crate::facade::watertight::__private::Setting::Breaker(
                crate::facade::watertight::__private::breaker::Config::named("recs")
                    .window(50u32)
                    .failures(0.2f64)
                    .min_calls(10u32)
                    .cooldown(5000000000u64)
                    .probes(2u32),
            ),
            crate::facade::watertight::__private::Setting::Retry(
                crate::facade::watertight::__private::retry::Config::new(3u32)
                    .backoff(50000000u64, 2000000000u64)
                    .budget(0.1f64, 5f64)
                    .on_timeout()
                    .on_full(),
            ),
            crate::facade::watertight::__private::Setting::FallsBack,
            crate::facade::watertight::__private::Setting::Idempotent,
        ],
    );
    crate::facade::watertight::__private::list!(__WT_SITE);
    let mut __wt_call = ::core::pin::pin!(
        crate ::facade::watertight::__private::Call::begin(& __WT_SITE)
    );
    let __wt_end = loop {
        let __wt_body = ::core::pin::pin!(
            ::core::option::Option::Some(async move { if let
            ::core::option::Option::Some(__wt_return) = ::core::option::Option::None:: <
            Result < Vec < u8 >, AppError > > { return __wt_return; } '__wt_body : {
            load(). await } })
        );
        let __wt_kind = {
            use crate::facade::watertight::__private::kinds::Choice as _;
            (&&&&&crate::facade::watertight::__private::Returned::by(&__wt_body))
                .__wt_kind()
        };
        let __wt_kind = crate::facade::watertight::__private::asking(
            __wt_kind,
            |__wt_verdict, __wt_out| crate::facade::watertight::__private::breaker_on(
                crate::facade::watertight::__private::retry_on(
                    __wt_verdict,
                    __wt_out,
                    |e| e.is_transient(),
                ),
                __wt_out,
                is_outage,
            ),
        );
        if let ::core::option::Option::Some(__wt_end) = crate::facade::watertight::__private::attempt(
                &mut __wt_call,
                __wt_body,
                __wt_kind,
            )
            .await
        {
            break __wt_end;
        }
    };
    let (__wt_kind, __wt_failure, __wt_terms) = {
        use crate::facade::watertight::__private::kinds::Choice as _;
        let __wt_end = __wt_end;
        let __wt_kind = (&&&&&crate::facade::watertight::__private::Returned::of(
            &__wt_end,
        ))
            .__wt_kind();
        let __wt_terms = crate::facade::watertight::__private::bounded(&__wt_kind);
        let __wt_terms = {
            use crate::facade::watertight::__private::kinds::{
                Carries as _, CarriesNothing as _,
            };
            __wt_terms
                .within(
                    (&&crate::facade::watertight::__private::Carrier::of(&__wt_kind))
                        .__wt_carry(),
                )
        };
        match crate::facade::watertight::__private::settle(
            &__wt_kind,
            &mut __wt_call,
            __wt_end,
        ) {
            ::core::result::Result::Ok(__wt_whole) => return __wt_whole,
            ::core::result::Result::Err(__wt_failure) => {
                (__wt_kind, __wt_failure, __wt_terms)
            }
        }
    };
    let __wt_fallback = crate::facade::watertight::__private::with_failure(
        &__wt_kind,
        |failure| Cached::of(failure),
    );
    crate::facade::watertight::__private::fall_back_on(
            __wt_kind,
            &mut __wt_call,
            __wt_failure,
            __wt_fallback,
            __wt_terms,
        )
        .await
}
