impl Guarded {
    async fn push(
        &mut self,
        item: Item,
        (a, b): (u8, &mut u8),
        #[cfg(test)]
        c: u8,
    ) -> Result<(), AppError> {
        static __WT_SITE: ::watertight::__private::Site = ::watertight::__private::Site::of(
            "push",
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
        let mut __wt_given_item = ::watertight::__private::Given::new(item);
        let __wt_end = loop {
            #[allow(clippy::shadow_reuse, clippy::shadow_same, clippy::shadow_unrelated)]
            let item = __wt_given_item.give(&__wt_call);
            #[allow(clippy::shadow_reuse, clippy::shadow_same, clippy::shadow_unrelated)]
            let b = &mut *b;
            let __wt_body = ::core::pin::pin!(
                ::core::option::Option::Some(async { #[allow(clippy::shadow_reuse,
                clippy::shadow_same, clippy::shadow_unrelated)] let mut item = item;
                #[allow(clippy::shadow_reuse, clippy::shadow_same,
                clippy::shadow_unrelated)] let mut b = b; if let
                ::core::option::Option::Some(__wt_return) =
                ::core::option::Option::None:: < Result < (), AppError > > { return
                __wt_return; } '__wt_body : { self.0.push(item) } })
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
}
