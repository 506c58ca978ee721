extension HTTPRequest {
  /// Sets a form as the request's body, with the matching `Content-Type` field.
  ///
  /// If the lengths of all parts are known, the request announces its length.
  ///
  /// - Throws: ``SQOAuthError/Code/malformedRequest`` if a name or a content type cannot be sent,
  ///   or a file cannot be read; ``SQOAuthError/Code/bodyNotReplayable`` if a part that can be read
  ///   only once was already read. In both cases, the request does not change.
  public mutating func setForm(_ form: MultipartForm) throws(SQOAuthError) {
    let content = try MultipartBody(form)
    try Self.check(content.oneTimeStreams)
    body = content.httpBody
    oneTimeStreams = content.oneTimeStreams
    headers["Content-Type"] = content.contentType
  }

  /// Whether the request can be sent more than once, because its whole body can be read again.
  public var isReplayable: Bool { oneTimeStreams.isEmpty }

  /// Whether a part of the body that can be read only once was read, so the request cannot be sent.
  public var isSpent: Bool { oneTimeStreams.contains(where: \.wasBegun) }

  /// Throws if the body can no longer be sent, before any byte is sent.
  func checkNotSpent() throws(SQOAuthError) {
    if !oneTimeStreams.isEmpty { try Self.check(oneTimeStreams) }
  }

  private static func check(_ streams: [OneTimeStream]) throws(SQOAuthError) {
    if let begun = streams.first(where: \.wasBegun) { throw begun.notReplayable }
  }
}
