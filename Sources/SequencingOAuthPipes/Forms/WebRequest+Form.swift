public import SequencingOAuth

extension WebRequest {
  /// Sets a form as the request's body, with the matching `Content-Type` field.
  ///
  /// If the lengths of all parts are known, the request announces its length.
  ///
  /// - Throws: `SQOAuthError.Code.malformedRequest` if a name or a content type cannot be sent,
  ///   or a file cannot be read; `SQOAuthError.Code.bodyNotReplayable` if a part that can be read
  ///   only once was already read. In both cases, the request does not change.
  public mutating func setForm(_ form: MultipartForm) throws(SQOAuthError) {
    let content = try MultipartBody(form)
    try Self.check(content.oneTimeStreams)
    body = content.httpBody
    oneTimeStreams = content.oneTimeStreams
    headers["Content-Type"] = content.contentType
  }
}
