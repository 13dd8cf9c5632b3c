async fn quote(id: u64, name: String) -> Result<String, AppError> {
    static __WT_SITE: ::watertight::__private::Site = ::watertight::__private::Site::of(
        "quote",
        ::core::module_path!(),
        ::core::file!(),
        ::core::line!(),
        [
            ::watertight::__private::Setting::Timeout(300000000u64),
            ::watertight::__private::Setting::Hedge(
                ::watertight::__private::hedge::Config::fixed(50000000u64),
            ),
            ::watertight::__private::Setting::Tail(
                ::watertight::__private::tail::Config::new(0.02f64),
            ),
            ::watertight::__private::Setting::Idempotent,
        ],
    );
    ::watertight::__private::list!(__WT_SITE);
    let mut __wt_call = ::core::pin::pin!(
        ::watertight::__private::Call::begin(& __WT_SITE)
    );
    let mut __wt_given_name = ::watertight::__private::Given::new(name);
    let __wt_tail = ::watertight::__private::tail_of(&__wt_call);
    let mut __wt_again = |__wt_is_last: bool| {
        let _ = __wt_is_last;
        #[allow(clippy::shadow_reuse, clippy::shadow_same, clippy::shadow_unrelated)]
        let mut name = __wt_given_name.give_if(__wt_is_last);
        ::watertight::__private::observed(
            __wt_tail,
            async move {
                if let ::core::option::Option::Some(__wt_return) = ::core::option::Option::None::<
                    Result<String, AppError>,
                > {
                    return __wt_return;
                }
                '__wt_body: { load(id, name).await }
            },
        )
    };
    let __wt_end = loop {
        let mut __wt_body = ::core::pin::pin!(
            ::core::option::Option::Some(__wt_again(false))
        );
        let __wt_kind = {
            use ::watertight::__private::kinds::Choice as _;
            (&&&&&::watertight::__private::Returned::by(&__wt_body)).__wt_kind()
        };
        let __wt_errors = ::watertight::__private::errors_of(&__wt_kind);
        ::watertight::__private::judged(__wt_body.as_mut(), __wt_errors);
        let __wt_beside = (
            ::core::pin::pin!(::core::option::Option::None),
            ::core::pin::pin!(::core::option::Option::None),
        );
        if let ::core::option::Option::Some(__wt_end) = ::watertight::__private::race(
                &mut __wt_call,
                __wt_body,
                __wt_beside,
                |__wt_is_last: bool| ::watertight::__private::judging(
                    __wt_again(__wt_is_last),
                    __wt_errors,
                ),
                __wt_kind,
            )
            .await
        {
            break __wt_end;
        }
    };
    ::watertight::__private::answer(
        __wt_call.as_mut(),
        ::core::convert::identity(__wt_end),
    )
}
