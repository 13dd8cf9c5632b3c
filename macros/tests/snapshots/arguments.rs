async fn f(
    Json(x): Json<T>,
    Foo { y, .. }: Foo,
    _: u8,
    [c,
    d,
    ]: [u8; 2],
    ref z: String,
    rest: &[u8],
    buf: &mut Vec<u8>,
    Unit: Unit,
    r#type: u8,
) -> Result<(), AppError> {
    static __WT_SITE: ::watertight::__private::Site = ::watertight::__private::Site::of(
        "f",
        ::core::module_path!(),
        ::core::file!(),
        ::core::line!(),
        [
            ::watertight::__private::Setting::Breaker(
                ::watertight::__private::breaker::Config::own(),
            ),
            ::watertight::__private::Setting::Retries(1u32),
        ],
    );
    ::watertight::__private::list!(__WT_SITE);
    let mut __wt_call = ::core::pin::pin!(
        ::watertight::__private::Call::begin(& __WT_SITE)
    );
    let mut __wt_given_x = ::watertight::__private::Given::new(x);
    let mut __wt_given_y = ::watertight::__private::Given::new(y);
    let mut __wt_given_c = ::watertight::__private::Given::new(c);
    let mut __wt_given_d = ::watertight::__private::Given::new(d);
    let mut __wt_given_rest = ::watertight::__private::Given::new(rest);
    let __wt_end = loop {
        #[allow(clippy::shadow_reuse, clippy::shadow_same, clippy::shadow_unrelated)]
        let x = __wt_given_x.give(&__wt_call);
        #[allow(clippy::shadow_reuse, clippy::shadow_same, clippy::shadow_unrelated)]
        let y = __wt_given_y.give(&__wt_call);
        #[allow(clippy::shadow_reuse, clippy::shadow_same, clippy::shadow_unrelated)]
        let c = __wt_given_c.give(&__wt_call);
        #[allow(clippy::shadow_reuse, clippy::shadow_same, clippy::shadow_unrelated)]
        let d = __wt_given_d.give(&__wt_call);
        #[allow(clippy::shadow_reuse, clippy::shadow_same, clippy::shadow_unrelated)]
        let mut rest = __wt_given_rest.give(&__wt_call);
        #[allow(clippy::shadow_reuse, clippy::shadow_same, clippy::shadow_unrelated)]
        let buf = &mut *buf;
        let __wt_body = ::core::pin::pin!(
            ::core::option::Option::Some(async move { if let
            ::core::option::Option::Some(__wt_return) = ::core::option::Option::None:: <
            Result < (), AppError > > { return __wt_return; } '__wt_body : { go(). await
            } })
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
    ::watertight::__private::answer(
        __wt_call.as_mut(),
        ::core::convert::identity(__wt_end),
    )
}
