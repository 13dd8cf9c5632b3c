async fn f() {
    static __WT_SITE: ::watertight::__private::Site = ::watertight::__private::Site::of(
        "f",
        ::core::module_path!(),
        ::core::file!(),
        ::core::line!(),
        [
            ::watertight::__private::Setting::Retry(
                ::watertight::__private::retry::Config::new(1u32).no_budget(),
            ),
        ],
    );
    ::watertight::__private::list!(__WT_SITE);
    let mut __wt_call = ::core::pin::pin!(
        ::watertight::__private::Call::begin(& __WT_SITE)
    );
    let __wt_end = loop {
        let __wt_body = ::core::pin::pin!(
            ::core::option::Option::Some(async move { if let
            ::core::option::Option::Some(__wt_return) = ::core::option::Option::None:: <
            () > { return __wt_return; } '__wt_body : { step(). await } })
        );
        let __wt_kind = {
            use ::watertight::__private::kinds::Choice as _;
            (&&&&&::watertight::__private::Returned::by(&__wt_body)).__wt_kind()
        };
        if let ::core::option::Option::Some(__wt_end) = ::watertight::__private::attempt(
                &mut __wt_call,
                __wt_body,
                __wt_kind,
            )
            .await
        {
            break __wt_end;
        }
    };
    ::watertight::__private::answer_unrefused(
        __wt_call.as_mut(),
        ::core::convert::identity(__wt_end),
    )
}
