impl Guarded {
    fn get<'life0, 'async_trait>(
        &'life0 mut self,
        id: String,
        __arg2: Json<String>,
    ) -> ::core::pin::Pin<
        Box<
            dyn ::core::future::Future<
                Output = Result<String, AppError>,
            > + ::core::marker::Send + 'async_trait,
        >,
    >
    where
        'life0: 'async_trait,
    {
        Box::pin(async move {
            if let ::core::option::Option::Some(__ret) = ::core::option::Option::None::<
                Result<String, AppError>,
            > {
                #[allow(unreachable_code)] return __ret;
            }
            let mut __self = self;
            let id = id;
            let Json(x) = {
                let __arg2 = __arg2;
                __arg2
            };
            let __ret: Result<String, AppError> = {
                static __WT_SITE: ::watertight::__private::Site = ::watertight::__private::Site::of(
                    "get",
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
                let mut __wt_given_id = ::watertight::__private::Given::new(id);
                let mut __wt_given_x = ::watertight::__private::Given::new(x);
                let __wt_end = loop {
                    #[allow(
                        clippy::shadow_reuse,
                        clippy::shadow_same,
                        clippy::shadow_unrelated
                    )]
                    let id = __wt_given_id.give(&__wt_call);
                    #[allow(
                        clippy::shadow_reuse,
                        clippy::shadow_same,
                        clippy::shadow_unrelated
                    )]
                    let x = __wt_given_x.give(&__wt_call);
                    let __wt_body = ::core::pin::pin!(
                        ::core::option::Option::Some(async {
                        #[allow(clippy::shadow_reuse, clippy::shadow_same,
                        clippy::shadow_unrelated)] let mut id = id;
                        #[allow(clippy::shadow_reuse, clippy::shadow_same,
                        clippy::shadow_unrelated)] let x = x; if let
                        ::core::option::Option::Some(__wt_return) =
                        ::core::option::Option::None:: < Result < String, AppError > > {
                        return __wt_return; } '__wt_body : { __self.get(id, x). await }
                        })
                    );
                    let __wt_kind = {
                        use ::watertight::__private::kinds::Choice as _;
                        (&&&&&::watertight::__private::Returned::by(&__wt_body))
                            .__wt_kind()
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
            };
            #[allow(unreachable_code)] __ret
        })
    }
}
