import SQBasics
import SequencingOAuth

// What the program decides for one sign-in: a page or a code, and the attributes of the account.
extension ResourceClient {
  /// Returns whether a sign-in shows a code for another device instead of a page.
  func usesCode(_ access: Access) async throws(SQOAuthError) -> Bool {
    guard let decide = options.usesCode else { return true }
    return try await decide(access.issuer, try await access.module.providerMetadata())
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
