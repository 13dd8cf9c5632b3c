async fn f() -> Result<(), AppError> {
    static __WT_SITE: ::watertight::__private::Site = ::watertight::__private::Site::of(
        "f",
        ::core::module_path!(),
        ::core::file!(),
        ::core::line!(),
        [
            ::watertight::__private::Setting::Bulkhead(
                ::watertight::__private::bulkhead::Config::new("recs", 64u32)
                    .queue(16u32)
                    .fleet(),
            ),
            ::watertight::__private::Setting::Rate(
                ::watertight::__private::rate_enabled!(
                    ::watertight::__private::rate::Config::named("vendor", 1000u32,
                    1000000000u64).fleet()
                ),
            ),
        ],
    );
    ::watertight::__private::list!(__WT_SITE);
    let mut __wt_call = ::core::pin::pin!(
        ::watertight::__private::Call::begin(& __WT_SITE)
    );
    let __wt_end = {
        let __wt_body = ::core::pin::pin!(
            ::core::option::Option::Some(async move { if let
            ::core::option::Option::Some(__wt_return) = ::core::option::Option::None:: <
            Result < (), AppError > > { return __wt_return; } '__wt_body : { step().
            await } })
        );
        let __wt_kind = {
            use ::watertight::__private::kinds::Choice as _;
            (&&&&&::watertight::__private::Returned::by(&__wt_body)).__wt_kind()
        };
        ::watertight::__private::once(&mut __wt_call, __wt_body, __wt_kind).await
    };
    ::watertight::__private::answer(
        __wt_call.as_mut(),
        ::core::convert::identity(__wt_end),
    )
}
