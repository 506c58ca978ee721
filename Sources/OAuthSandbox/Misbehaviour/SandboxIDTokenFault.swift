/// A way in which an ID token can be wrong.
///
/// Pass it to ``SandboxMisbehaviour/idToken(_:)``. Each fault changes one thing, so a client that
/// refuses the token has noticed that thing. The text of a fault is a phrase for the name of a
/// test.
///
/// A client should accept the tokens of the four ``legal`` faults. The faults of `nonce`, `acr` and
/// `auth_time` are wrong only if the client asked for that claim, and ``authenticatedLater`` is
/// wrong only on a refresh.
///
/// - SeeAlso: OpenID Connect Core 1.0, sections 3.1.3.7 and 12.2
public enum SandboxIDTokenFault: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
  // MARK: The token as a text

  /// The token response has no `id_token`.
  case missing = "the token response has no id_token"
  /// The token is empty.
  case empty = "the token is empty"
  /// The token has more than a mebibyte.
  case tooLong = "the token has more than a mebibyte"
  /// The claims are no base64url.
  case malformedBase64 = "the claims are no base64url"
  /// The token has two parts.
  case twoParts = "the token has two parts"
  /// The token has five parts, as an encrypted one.
  case encrypted = "the token has five parts, as an encrypted one"
  /// The header is no JSON.
  case headerNotJSON = "the header is no JSON"
  /// The claims are no JSON.
  case claimsNotJSON = "the claims are no JSON"

  // MARK: The header and the signature

  /// The algorithm is `none`, and there is no signature.
  case unsigned = "the algorithm is none, and there is no signature"
  /// The signature is empty.
  case noSignature = "the signature is empty"
  /// The signature is wrong.
  case wrongSignature = "the signature is wrong"
  /// Another key of the set signs, with another algorithm than the client registered.
  case otherAlgorithm = "another key of the set signs, with another algorithm"
  /// The signature is an HMAC with the public key's PEM text as its secret.
  case hmacWithPublicKey = "an HMAC with the public key as its secret"
  /// `kid` names no key of the set, although a key of the set signs.
  case unknownKeyID = "kid names no key of the set"
  /// `kid` is missing, which is legal: the client must try the keys that fit.
  case keyIDMissing = "kid is missing"
  /// A key signs that is not in the set.
  case unpublishedKey = "the key is not in the set"
  /// An RSA key of 1024 bits signs, which the set contains; with RS256 if the client has no RSA
  /// algorithm.
  case weakKey = "an RSA key of 1024 bits signs"
  /// `crit` names an extension that no client knows.
  case critical = "crit names an unknown extension"
  /// Another key signs, which the header brings in `jwk`.
  case embeddedKey = "another key signs, which the header brings in jwk"
  /// Another key signs, and the header gives the address `/foreign-keys` for it in `jku` and `x5u`.
  case keyAddress = "another key signs, whose address is in jku and x5u"
  /// `alg` comes twice in the header.
  case doubledAlgorithm = "alg comes twice"

  // MARK: Issuer, subject and audience

  /// `iss` is that of another server.
  case issuerWrong = "iss is that of another server"
  /// `iss` has a slash more at its end.
  case issuerWithSlash = "iss has a slash more at its end"
  /// `iss` is missing.
  case issuerMissing = "iss is missing"
  /// `sub` is that of another user; on a refresh it has changed.
  case otherSubject = "sub is that of another user"
  /// `sub` is missing.
  case subjectMissing = "sub is missing"
  /// `sub` is empty.
  case subjectEmpty = "sub is empty"
  /// `sub` comes twice: another user's, and then the right one.
  case doubledSubject = "sub comes twice"
  /// `aud` is another client.
  case audienceWrong = "aud is another client"
  /// `aud` is missing.
  case audienceMissing = "aud is missing"
  /// `aud` is an empty array.
  case audienceEmpty = "aud is an empty array"
  /// `aud` contains another client too, and `azp` is right.
  case audienceExtra = "aud contains a client that the app does not trust"
  /// `aud` is an array of the client alone, which is legal.
  case audienceArray = "aud is an array of the client alone"
  /// `azp` is another client.
  case authorizedPartyWrong = "azp is another client"
  /// `azp` is the client, which is legal in a first token and new in a refreshed one.
  case authorizedPartyAdded = "azp is the client although there was none before"
  /// `aud` has several members, and `azp` is missing.
  case authorizedPartyMissing = "azp is missing beside several audiences"

  // MARK: Times

  /// `exp` is an hour in the past.
  case expired = "exp is an hour in the past"
  /// `exp` is missing.
  case expiryMissing = "exp is missing"
  /// `exp` is a text.
  case expiryNotNumber = "exp is a text"
  /// `iat` is missing.
  case issueDateMissing = "iat is missing"
  /// `iat` is an hour in the future.
  case issuedInFuture = "iat is an hour in the future"
  /// `iat` is a day in the past, although `exp` is not.
  case issuedTooLongAgo = "iat is a day in the past"
  /// `nbf` is an hour in the future.
  case notYetValid = "nbf is an hour in the future"
  /// `auth_time` is missing.
  case authenticationDateMissing = "auth_time is missing"
  /// `auth_time` is a day before the sign-in.
  case authenticatedTooLongAgo = "auth_time is a day before the sign-in"
  /// `auth_time` is ten seconds after the sign-in, and so newer than before on a refresh.
  case authenticatedLater = "auth_time is ten seconds after the sign-in"

  // MARK: What binds the token to the request

  /// `nonce` is another one, also in a token from a refresh.
  case nonceWrong = "nonce is another one"
  /// `nonce` is missing.
  case nonceMissing = "nonce is missing"
  /// `at_hash` is that of another access token.
  case accessTokenHashWrong = "at_hash is that of another access token"
  /// `at_hash` is missing, which is legal for a token from the token endpoint.
  case accessTokenHashMissing = "at_hash is missing"
  /// `c_hash` is that of another code.
  case codeHashWrong = "c_hash is that of another code"
  /// `acr` is missing.
  case acrMissing = "acr is missing"
  /// `acr` names a context that the app did not ask for.
  case acrOther = "acr names a context that the app did not ask for"

  /// The faults that the specification allows in a first token.
  public static let legal: Set<Self> = [
    .keyIDMissing, .audienceArray, .authorizedPartyAdded, .accessTokenHashMissing,
  ]

  /// What is wrong.
  public var description: String { rawValue }
}
