/// A fault of an ID token, for tests of clients that must reject it.
///
/// Pass it to ``SandboxMisbehaviour/idToken(_:)``. Each fault changes one thing, so a client that
/// rejects the token has checked that thing. The raw value of a fault is a phrase that a test can
/// use in its name.
///
/// A client should accept tokens with the four ``legal`` faults. A client must reject a token with
/// a fault of `nonce`, `acr` or `auth_time` only if the client requested that claim. It must reject
/// a token with ``authenticatedLater`` only if a refresh returned the token.
///
/// - SeeAlso: OpenID Connect Core 1.0, sections 3.1.3.7 and 12.2
public enum SandboxIDTokenFault: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
  // MARK: The token as a text

  /// The token response has no `id_token`.
  case missing = "the token response has no id_token"
  /// The token is empty.
  case empty = "the token is empty"
  /// The token is longer than a mebibyte.
  case tooLong = "the token is longer than a mebibyte"
  /// The claims are not base64url.
  case malformedBase64 = "the claims are not base64url"
  /// The token has two parts.
  case twoParts = "the token has two parts"
  /// The token has five parts, like an encrypted token.
  case encrypted = "the token has five parts, like an encrypted token"
  /// The header is not JSON.
  case headerNotJSON = "the header is not JSON"
  /// The claims are not JSON.
  case claimsNotJSON = "the claims are not JSON"

  // MARK: The header and the signature

  /// The algorithm is `none`, and there is no signature.
  case unsigned = "the algorithm is none, and there is no signature"
  /// The signature is empty.
  case noSignature = "the signature is empty"
  /// The signature is wrong.
  case wrongSignature = "the signature is wrong"
  /// The token is signed by another key of the server's key set, with an algorithm that the client
  /// did not register.
  case otherAlgorithm = "another key of the set signed the token with another algorithm"
  /// The signature is an HMAC whose secret is the public key's PEM text.
  case hmacWithPublicKey = "the signature is an HMAC with the public key as its secret"
  /// `kid` names no key of the server's key set, although a key of that set signed the token.
  case unknownKeyID = "kid names no key of the set"
  /// `kid` is missing, which is legal: the client must try all suitable keys.
  case keyIDMissing = "kid is missing"
  /// The token is signed by a key that is not in the server's key set.
  case unpublishedKey = "the signing key is not in the set"
  /// The token is signed by an RSA key of 1024 bits, which the server's key set contains.
  ///
  /// The algorithm is RS256 if the client's algorithm is not RSA. PS512 needs a longer key: 1040
  /// bits.
  case weakKey = "an RSA key of 1024 bits signed the token"
  /// `crit` names an extension that no client knows.
  case critical = "crit names an unknown extension"
  /// The token is signed by another key, and the header contains that key in `jwk`.
  case embeddedKey = "the header contains another signing key in jwk"
  /// The token is signed by another key, whose address, `/foreign-keys`, the header gives in `jku`
  /// and `x5u`.
  case keyAddress = "the header gives the address of another signing key in jku and x5u"
  /// `alg` occurs twice in the header.
  case doubledAlgorithm = "alg occurs twice"

  // MARK: Issuer, subject and audience

  /// `iss` names another server.
  case issuerWrong = "iss names another server"
  /// `iss` has an additional slash at its end.
  case issuerWithSlash = "iss has an additional slash at its end"
  /// `iss` is missing.
  case issuerMissing = "iss is missing"
  /// `sub` names another user; after a refresh, it therefore differs from the first token's `sub`.
  case otherSubject = "sub names another user"
  /// `sub` is missing.
  case subjectMissing = "sub is missing"
  /// `sub` is empty.
  case subjectEmpty = "sub is empty"
  /// `sub` occurs twice: first another user's, then the right one.
  case doubledSubject = "sub occurs twice"
  /// `aud` names another client.
  case audienceWrong = "aud names another client"
  /// `aud` is missing.
  case audienceMissing = "aud is missing"
  /// `aud` is an empty array.
  case audienceEmpty = "aud is an empty array"
  /// `aud` also contains another client, and `azp` is right.
  case audienceExtra = "aud also contains another client"
  /// `aud` is an array that contains only the client, which is legal.
  case audienceArray = "aud is an array that contains only the client"
  /// `azp` names another client.
  case authorizedPartyWrong = "azp names another client"
  /// `azp` names the client, which is legal in a first ID token, but wrong after a refresh if the
  /// first ID token had no `azp`.
  case authorizedPartyAdded = "azp names the client"
  /// `aud` has several members, and `azp` is missing.
  case authorizedPartyMissing = "azp is missing although aud has several members"

  // MARK: Times

  /// `exp` is an hour in the past.
  case expired = "exp is an hour in the past"
  /// `exp` is missing.
  case expiryMissing = "exp is missing"
  /// `exp` is a string.
  case expiryNotNumber = "exp is a string"
  /// `iat` is missing.
  case issueDateMissing = "iat is missing"
  /// `iat` is an hour in the future.
  case issuedInFuture = "iat is an hour in the future"
  /// `iat` is a day in the past, but `exp` is not.
  case issuedTooLongAgo = "iat is a day in the past"
  /// `nbf` is an hour in the future.
  case notYetValid = "nbf is an hour in the future"
  /// `auth_time` is missing.
  case authenticationDateMissing = "auth_time is missing"
  /// `auth_time` is a day before the sign-in.
  case authenticatedTooLongAgo = "auth_time is a day before the sign-in"
  /// `auth_time` is ten seconds after the sign-in; after a refresh, it is later than in the first
  /// token.
  case authenticatedLater = "auth_time is ten seconds after the sign-in"

  // MARK: What binds the token to the request

  /// `nonce` differs from the `nonce` of the request, also in a token from a refresh.
  case nonceWrong = "nonce differs from the request's"
  /// `nonce` is missing.
  case nonceMissing = "nonce is missing"
  /// `at_hash` belongs to another access token.
  case accessTokenHashWrong = "at_hash belongs to another access token"
  /// `at_hash` is missing, which is legal for a token from the token endpoint.
  case accessTokenHashMissing = "at_hash is missing"
  /// `c_hash` belongs to another code.
  case codeHashWrong = "c_hash belongs to another code"
  /// `acr` is missing.
  case acrMissing = "acr is missing"
  /// `acr` names an authentication context that the app did not request.
  case acrOther = "acr names a context that the app did not request"

  /// The faults that the specification allows in a first ID token.
  public static let legal: Set<Self> = [
    .keyIDMissing, .audienceArray, .authorizedPartyAdded, .accessTokenHashMissing,
  ]

  /// The fault as a phrase, such as `iss is missing`.
  public var description: String { rawValue }
}
