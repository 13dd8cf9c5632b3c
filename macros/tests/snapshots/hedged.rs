impl Guarded {
    async fn get(
        &self,
        name: String,
        page: u32,
        text: &str,
    ) -> Result<Vec<u8>, AppError> {
        static __WT_SITE: ::watertight::__private::Site = ::watertight::__private::Site::of(
            "get",
            ::core::module_path!(),
            ::core::file!(),
            ::core::line!(),
            [
                ::watertight::__private::Setting::Retry(
                    ::watertight::__private::retry::Config::new(1u32).on_timeout(),
                ),
                ::watertight::__private::Setting::Hedge(
                    ::watertight::__private::hedge::Config::percentile(950u32)
                        .floor(10000000u64),
                ),
                ::watertight::__private::Setting::FallsBack,
                ::watertight::__private::Setting::Idempotent,
            ],
        );
        ::watertight::__private::list!(__WT_SITE);
        let mut __wt_call = ::core::pin::pin!(
            ::watertight::__private::Call::begin(& __WT_SITE)
        );
        let mut __wt_given_name = ::watertight::__private::Given::new(name);
        let mut __wt_given_page = ::watertight::__private::Given::new(page);
        let mut __wt_again = |__wt_is_last: bool| {
            let _ = __wt_is_last;
            #[allow(clippy::shadow_reuse, clippy::shadow_same, clippy::shadow_unrelated)]
            let name = __wt_given_name.give_if(false);
            #[allow(clippy::shadow_reuse, clippy::shadow_same, clippy::shadow_unrelated)]
            let mut page = __wt_given_page.give_if(__wt_is_last);
            async move {
                if let ::core::option::Option::Some(__wt_return) = ::core::option::Option::None::<
                    Result<Vec<u8>, AppError>,
                > {
                    return __wt_return;
                }
                '__wt_body: { self.load(name, page).await }
            }
        };
        let __wt_end = loop {
            let __wt_body = ::core::pin::pin!(
                ::core::option::Option::Some(__wt_again(false))
            );
            let __wt_kind = {
                use ::watertight::__private::kinds::Choice as _;
                (&&&&&::watertight::__private::Returned::by(&__wt_body)).__wt_kind()
            };
            let __wt_beside = (
                ::core::pin::pin!(::core::option::Option::None),
                ::core::pin::pin!(::core::option::Option::None),
            );
            if let ::core::option::Option::Some(__wt_end) = ::watertight::__private::race(
                    &mut __wt_call,
                    __wt_body,
                    __wt_beside,
                    &mut __wt_again,
                    __wt_kind,
                )
                .await
            {
                break __wt_end;
            }
        };
        #[allow(clippy::shadow_reuse, clippy::shadow_same, clippy::shadow_unrelated)]
        let name = __wt_given_name.left();
        let _ = &name;
        let (__wt_kind, __wt_failure) = {
            use ::watertight::__private::kinds::Choice as _;
            let __wt_end = __wt_end;
            let __wt_kind = (&&&&&::watertight::__private::Returned::of(&__wt_end))
                .__wt_kind();
            match ::watertight::__private::settle(&__wt_kind, &mut __wt_call, __wt_end) {
                ::core::result::Result::Ok(__wt_whole) => return __wt_whole,
                ::core::result::Result::Err(__wt_failure) => (__wt_kind, __wt_failure),
            }
        };
        ::watertight::__private::fall_back(
                __wt_kind,
                &mut __wt_call,
                __wt_failure,
                || stale(&name),
            )
            .await
    }
}
