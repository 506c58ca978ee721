import SQBasics

// Sign-ins of users whose browser is on another device, such as a phone.
//
// The user enters a code at an address of the authorization server; meanwhile the SDK asks the
// server for the token. The new token replaces the current one, as after a sign-in in a browser.
extension AccountOperations {
  /// Signs the user in on another device, or joins the device sign-in under way.
  ///
  /// `show` gets the code and the address for the user. It is called once: on its actor if it
  /// belongs to one, and otherwise on ``callbackQueue``. This method returns or throws when the
  /// user is done, when the code expires or when the task is cancelled. The SDK asks the server for
  /// the token at the interval that the server sets, and keeps asking if the network or the server
  /// fails in the meantime. Cancelling the task also ends the sign-in if no other caller waits for
  /// it.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/expiredToken`` if the code expired;
  ///   ``SQOAuthError/Code/accessDenied`` if the user refused;
  ///   ``SQOAuthError/Code/deviceAuthorizationUnsupported`` if the provider has no device
  ///   authorization endpoint; ``SQOAuthError/Code/signInUnderWay`` if a sign-in in the browser,
  ///   other than a silent one, is under way.
  /// - SeeAlso: RFC 8628
  @discardableResult
  public func signInWithDeviceCode(
    show: @escaping @isolated(any) (DeviceAuthorization) -> Void
  ) async throws(SQOAuthError) -> SQToken {
    try await module.signIn(SignIn.Request(place: .otherDevice), on: module.screen(show))
  }

  /// Signs the user in on another device, with options for this sign-in only.
  ///
  /// The options are parameters of the device authorization request; some servers ignore them. This
  /// call joins a sign-in under way that has the same options; see ``signInWithDeviceCode(show:)``.
  @discardableResult
  public func signInWithDeviceCode(
    with options: SignInOptions,
    show: @escaping @isolated(any) (DeviceAuthorization) -> Void
  ) async throws(SQOAuthError) -> SQToken {
    try await module.signIn(
      SignIn.Request(place: .otherDevice, options: options), on: module.screen(show))
  }

  /// Gets a valid token: the current one, a refreshed one, or one from a sign-in on another device.
  ///
  /// It works like ``requestAccess()``, but for a user without a browser on this machine. `show` is
  /// called only if the user must sign in; see ``signInWithDeviceCode(show:)``.
  @discardableResult
  public func requestAccessWithDeviceCode(
    show: @escaping @isolated(any) (DeviceAuthorization) -> Void
  ) async throws(SQOAuthError) -> SQToken {
    try await module.access(
      SignIn.Request(place: .otherDevice), on: module.screen(show), of: module.session.owner
    ).token
  }

  /// Signs the user in on another device, and shows the code until the sign-in ends.
  ///
  /// `show` runs in a task of its own. The end of the sign-in cancels that task, and this method
  /// then waits until `show` has returned. If `show` throws earlier, the sign-in ends with
  /// ``SQOAuthError/Code/cancelled``, whose cause is the error of `show`.
  @discardableResult
  package func signInWithDeviceCode(
    with options: SignInOptions? = nil,
    showing show: @escaping @Sendable (DeviceAuthorization) async throws -> Void
  ) async throws(SQOAuthError) -> SQToken {
    let screen = Locked<Task<(any Error)?, Never>?>(nil)
    let request = SignIn.Request(place: .otherDevice, options: options)
    let outcome = await SignIn.Outcome.of { () throws(SQOAuthError) in
      try await module.signIn(
        request,
        on: module.screen { @Sendable [module] authorization in
          let task = Task { await module.show(authorization, on: show) }
          screen.withLock { $0 = task }
        })
    }
    let task = screen.withLock(\.self)
    task?.cancel()
    if let cause = await task?.value, case .failure(let error) = outcome, error.code == .cancelled {
      throw SQOAuthError(
        .cancelled,
        "the sign-in on another device was cancelled, because showing its code failed",
        cause: cause)
    }
    return try outcome.get()
  }

  // MARK: With completions

  /// Signs the user in on another device, or joins the device sign-in under way.
  ///
  /// `show` is called before `completion`; see ``signInWithDeviceCode(show:)``.
  public func signInWithDeviceCode(
    show: @escaping @isolated(any) (DeviceAuthorization) -> Void,
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.complete(SignIn.Request(place: .otherDevice), show, completion)
  }

  /// Signs the user in on another device, with options for this sign-in only.
  ///
  /// `show` is called before `completion`; see ``signInWithDeviceCode(with:show:)``.
  public func signInWithDeviceCode(
    with options: SignInOptions,
    show: @escaping @isolated(any) (DeviceAuthorization) -> Void,
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.complete(SignIn.Request(place: .otherDevice, options: options), show, completion)
  }

  /// Gets a valid token: the current one, a refreshed one, or one from a sign-in on another device.
  ///
  /// `show` is called before `completion`, and only if the user must sign in; see
  /// ``requestAccessWithDeviceCode(show:)``.
  public func requestAccessWithDeviceCode(
    show: @escaping @isolated(any) (DeviceAuthorization) -> Void,
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    let screen = module.screen(show)
    // The app may end the session before the task starts.
    let owner = module.session.owner
    module.callbacks.complete(completion) { () throws(SQOAuthError) in
      try await self.module.access(
        SignIn.Request(place: .otherDevice), on: screen, of: owner
      ).token
    }
  }
}

extension AuthorizationModule {
  /// Shows the code until the task is cancelled; if the code cannot be shown, cancels the sign-in
  /// and returns the reason.
  fileprivate func show(
    _ authorization: DeviceAuthorization,
    on show: @Sendable (DeviceAuthorization) async throws -> Void
  ) async -> (any Error)? {
    do {
      try await show(authorization)
      return nil
    } catch {
      // After a cancellation the sign-in has already ended, so an error of `show` is not its cause.
      guard !Task.isCancelled else { return nil }
      cancelSignIn()
      return error
    }
  }

  fileprivate func complete(
    _ request: SignIn.Request, _ show: @escaping @isolated(any) (DeviceAuthorization) -> Void,
    _ completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    let screen = screen(show)
    callbacks.complete(completion) { () throws(SQOAuthError) in
      try await self.signIn(request, on: screen)
    }
  }

  fileprivate func screen(
    _ show: @escaping @isolated(any) (DeviceAuthorization) -> Void
  ) -> SignIns.Screen {
    let show = Completion(show)
    return { [callbacks] authorization, isWanted in
      await callbacks.call(show, with: authorization, if: isWanted)
    }
  }
}
