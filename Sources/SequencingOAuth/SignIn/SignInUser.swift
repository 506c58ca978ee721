/// The user of an ID token: the issuer, and the user's identifier there.
///
/// - SeeAlso: OpenID Connect Core 1.0, section 5.7
package struct SignInUser: Sendable, Hashable {
  let issuer: String
  let subject: String
}
