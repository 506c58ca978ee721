import SQBasics
import SequencingOAuth

// Sign-ins by a code on another device, and what the store keeps with an account.
extension ResourceClient {
  /// Returns whether a sign-in shows a code for another device instead of a page.
  func usesCode(_ access: Access) async throws(SQOAuthError) -> Bool {
    guard let decide = options.usesCode else { return true }
    return try await decide(access.issuer, try await access.module.providerMetadata())
  }

  /// Signs the user in on another device, and tells the app when that has ended.
  func signIn(
    _ signIn: SignInOptions, _ module: AuthorizationModule,
    showing show: @escaping @Sendable (DeviceAuthorization) -> Void
  ) async throws(SQOAuthError) {
    let outcome: Result<SQToken, SQOAuthError>
    do throws(SQOAuthError) {
      outcome = .success(try await module.signInWithDeviceCode(with: signIn, show: show))
    } catch {
      outcome = .failure(error)
    }
    await options.didEndCode?()
    _ = try outcome.get()
  }

  /// Sets the attributes that the store keeps with the next token.
  func setAttributes(_ signIn: SignInOptions, _ module: AuthorizationModule) {
    guard let configuration = module.configuration else { return }
    if let attributes = options.attributes {
      module.attributes = attributes(configuration, signIn.scope ?? module.currentToken?.scope)
    }
    if options.accountID != nil {
      module.attributes[Self.resourceAttribute] = configuration.resources.first
    }
  }
}
