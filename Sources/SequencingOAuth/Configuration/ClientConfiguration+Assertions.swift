import SQBasics

// Assertions that another party signs, and the ways in which the client can authenticate.
extension ClientConfiguration {
  /// The source of the assertions with which the client authenticates; `nil` for none.
  ///
  /// The client then authenticates with a new assertion in each request (`private_key_jwt`), unless
  /// ``clientAuthentication`` says otherwise. If the client also has a ``clientKey``, that key
  /// signs only other messages, such as authorization requests.
  ///
  /// - SeeAlso: RFC 7523, section 2.2
  public var clientAssertionSource: AssertionSource? { values.value.clientAssertionSource }

  /// The source of the assertions that the client exchanges for tokens; `nil`, the default, for
  /// none.
  ///
  /// ``AccountOperations/requestAccessTokenByAssertion(scope:)`` and each renewal of its token use
  /// the source. A token store does not save the source, only the fact that the token came from an
  /// assertion. So set the source again after a restart.
  ///
  /// - SeeAlso: RFC 7523, section 2.1
  public var grantAssertionSource: AssertionSource? {
    get { values.value.grantAssertionSource }
    set { values.value.grantAssertionSource = newValue }
  }

  /// Whether the client can authenticate to the server: by a secret, a key, an assertion or a
  /// certificate.
  var hasProofOfItself: Bool {
    clientSecret != nil || signsOrBringsAssertions || authenticatesByCertificate
  }

  /// Whether the client can authenticate with assertions: signed by its key, or from a source.
  var signsOrBringsAssertions: Bool { clientKey != nil || clientAssertionSource != nil }
}
