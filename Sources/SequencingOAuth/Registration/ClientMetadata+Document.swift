import SQBasics
public import SQFoundation

// The metadata of a client as a document, whose URL is the client's identifier.
extension ClientMetadata {
  /// Returns the document to serve at the client's identifier, an https URL.
  ///
  /// A server that accepts such clients (``ProviderMetadata/acceptsClientMetadataDocuments``)
  /// fetches the document, so the client needs no registration. Serve it with the type
  /// `application/json`, without a redirect. The client is public, or authenticates with ``keys``;
  /// the document has no secret.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` or ``SQOAuthError/Code/insecureEndpoint``
  ///   if `clientID` is not a valid URL for such a document;
  ///   ``SQOAuthError/Code/invalidConfiguration`` if the client authenticates with a secret, or if
  ///   no server could accept the metadata.
  /// - SeeAlso: OAuth Client ID Metadata Document (draft), sections 3 and 4
  public func document(clientID: String) throws(SQOAuthError) -> Data {
    try Self.checkDocumentAddress(clientID)
    try check()
    var metadata = choosingSignatures { _ in nil }
    metadata.clientAuthentication =
      clientAuthentication ?? (keys.isEmpty ? .publicClient : .privateKeyJWT)
    guard [.publicClient, .privateKeyJWT].contains(metadata.clientAuthentication) else {
      throw SQOAuthError(
        .invalidConfiguration,
        "a client that is described by a public document has no secret; use .publicClient, or "
          + ".privateKeyJWT with keys")
    }
    var members = metadata.members
    for name in ["client_secret", "client_secret_expires_at"] { members[name] = nil }
    members["client_id"] = .string(clientID)
    return Data(try JSONValue.object(members).jsonText("the client's metadata").utf8)
  }

  /// Throws if a text is not a valid URL for a client's metadata document.
  ///
  /// The URL must use https and have a path, without dot segments, user information or a fragment.
  ///
  /// - SeeAlso: OAuth Client ID Metadata Document (draft), section 3
  package static func checkDocumentAddress(_ text: String) throws(SQOAuthError) {
    let url = try EndpointURL.check(text, name: "address of the client's metadata document")
    let path = url.path(percentEncoded: true)
    let segments = path.split(separator: "/", omittingEmptySubsequences: false).map {
      $0.asciiLowercased().replacing("%2e", with: ".")
    }
    guard text.asciiLowercased().hasPrefix("https://"), path.utf8.count > 1,
      !segments.contains("."), !segments.contains("..")
    else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the address of the client's metadata document must be an https URL with a path and without "
          + "the segments \".\" and \"..\"")
    }
  }
}
