async fn f() {
    static __WT_SITE: ::watertight::__private::Site = ::watertight::__private::Site::new(
        ::watertight::__private::Declaration::new(
                "f",
                ::core::module_path!(),
                ::core::file!(),
                ::core::line!(),
            )
            .retry(::watertight::__private::retry::Config::new(1u32).no_budget()),
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
        match ::watertight::__private::attempt(
                __wt_call.as_mut(),
                __wt_body,
                |__wt_out| {
                    use ::watertight::__private::judge::*;
                    (&&&::watertight::__private::Judged(__wt_out)).verdict()
                },
                |__wt_out| {
                    use ::watertight::__private::judge::*;
                    (&&::watertight::__private::Keep::new(__wt_out)).keep()
                },
            )
            .await
        {
            ::watertight::__private::Step::End(__wt_end) => break __wt_end,
            ::watertight::__private::Step::Again => {}
        }
    };
    ::watertight::__private::answer_unrefused(
        __wt_call.as_mut(),
        ::core::convert::identity(__wt_end),
    )
}
