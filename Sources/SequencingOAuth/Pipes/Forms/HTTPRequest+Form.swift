extension HTTPRequest {
  /// Sets a form as the request's body, and sets the `Content-Type` of the form.
  ///
  /// If the lengths of all parts are known, the request announces its length.
  ///
  /// - Throws: ``SQOAuthError/Code/malformedRequest`` if a name or a content type cannot be
  ///   written, or a file cannot be read; ``SQOAuthError/Code/bodyNotReplayable`` if a part that
  ///   can be read only once was read before. In both cases, the request does not change.
  public mutating func setForm(_ form: MultipartForm) throws(SQOAuthError) {
    let content = try MultipartBody(form)
    try Self.check(content.oneTimeStreams)
    body = content.httpBody
    oneTimeStreams = content.oneTimeStreams
    headers["Content-Type"] = content.contentType
  }

  /// Whether the request can be sent more than once, because all parts of its body can be read
  /// again.
  public var isReplayable: Bool { oneTimeStreams.isEmpty }

  /// Whether the request can no longer be sent, because a part that can be read only once was read.
  public var isSpent: Bool { oneTimeStreams.contains(where: \.wasBegun) }

  /// Throws if the body can no longer be sent, before any byte of it is sent.
  func checkNotSpent() throws(SQOAuthError) {
    if !oneTimeStreams.isEmpty { try Self.check(oneTimeStreams) }
  }

  private static func check(_ streams: [OneTimeStream]) throws(SQOAuthError) {
    if let begun = streams.first(where: \.wasBegun) { throw begun.notReplayable }
  }
}
