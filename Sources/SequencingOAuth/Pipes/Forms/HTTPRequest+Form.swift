extension HTTPRequest {
  /// Makes a form the request's body, and sets the `Content-Type` that goes with it.
  ///
  /// The request's length is announced where that of every part is known.
  ///
  /// - Throws: ``SQOAuthError/Code/malformedRequest`` where a name or a content type cannot be
  ///   written, or a file cannot be read; ``SQOAuthError/Code/bodyNotReplayable`` where a one-time
  ///   stream of the form was begun already. The request is then as it was.
  public mutating func setForm(_ form: MultipartForm) throws(SQOAuthError) {
    let content = try MultipartBody(form)
    try Self.check(content.oneTimeStreams)
    body = content.httpBody
    oneTimeStreams = content.oneTimeStreams
    headers["Content-Type"] = content.contentType
  }

  /// Whether the request can be sent more than once: no part of its body is a one-time stream.
  public var isReplayable: Bool { oneTimeStreams.isEmpty }

  /// Whether the request cannot be sent any more: an attempt to send it began a one-time stream.
  public var isSpent: Bool { oneTimeStreams.contains(where: \.wasBegun) }

  /// Refuses a body that cannot be sent any more, before a byte of it is.
  func checkNotSpent() throws(SQOAuthError) {
    if !oneTimeStreams.isEmpty { try Self.check(oneTimeStreams) }
  }

  private static func check(_ streams: [OneTimeStream]) throws(SQOAuthError) {
    if let begun = streams.first(where: \.wasBegun) { throw begun.notReplayable }
  }
}
