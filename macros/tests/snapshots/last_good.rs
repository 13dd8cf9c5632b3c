async fn rates(base: Currency) -> Result<Vec<Rate>, AppError> {
    static __WT_SITE: ::watertight::__private::Site = ::watertight::__private::Site::of(
        "rates",
        ::core::module_path!(),
        ::core::file!(),
        ::core::line!(),
        [
            ::watertight::__private::Setting::Timeout(300000000u64),
            ::watertight::__private::Setting::Fallback(
                ::watertight::__private::fallback::Config::new()
                    .last_good(60000000000u64),
            ),
        ],
    );
    ::watertight::__private::list!(__WT_SITE);
    let mut __wt_call = ::core::pin::pin!(
        ::watertight::__private::Call::begin(& __WT_SITE)
    );
    let __wt_body = ::core::pin::pin!(
        ::core::option::Option::Some(async move { if let
        ::core::option::Option::Some(__wt_return) = ::core::option::Option::None:: <
        Result < Vec < Rate >, AppError > > { return __wt_return; } '__wt_body : {
        load(base). await } })
    );
    let __wt_kind = {
        use ::watertight::__private::kinds::Choice as _;
        (&&&&&::watertight::__private::Returned::by(&__wt_body)).__wt_kind()
    };
    let (__wt_kind, __wt_fallback) = ::watertight::__private::last_good(
        &__wt_call,
        __wt_kind,
    );
    ::watertight::__private::once_or(&mut __wt_call, __wt_body, __wt_kind, __wt_fallback)
        .await
}
