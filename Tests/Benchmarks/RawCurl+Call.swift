import CCurl

extension RawCurl {
  /// One handle, one gRPC call after the other, over HTTP/2 in clear.
  static func calls(_ url: String, _ message: [UInt8], _ count: Int) async throws
    -> Benchmark.Sample
  {
    let easy = try handle(url)
    var fields: UnsafeMutablePointer<curl_slist>?
    for field in [
      "content-type: application/grpc", "te: trailers", "authorization: Bearer access",
      "accept-encoding: identity",
    ] {
      fields = curl_slist_append(fields, field)
    }
    defer {
      curl_easy_cleanup(easy)
      curl_slist_free_all(fields)
    }
    sq_set_pointer(easy, CURLOPT_HTTPHEADER, fields)
    var frame = [0, 0, 0, 0, UInt8(message.count)] + message
    sq_set_long(easy, CURLOPT_POSTFIELDSIZE, frame.count)
    frame.withUnsafeMutableBytes {
      _ = sq_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, $0.baseAddress)
    }
    // libcurl 7.88 greets the server again where this is said of a connection that it has kept.
    sq_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE))
    try call(easy)
    sq_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2_0))
    return try await sample(count) {
      for _ in 0..<count { try call(easy) }
    }
  }

  private static func call(_ easy: UnsafeMutableRawPointer) throws {
    guard curl_easy_perform(easy) == CURLE_OK, sq_get_long(easy, CURLINFO_RESPONSE_CODE) == 200
    else { throw BenchmarkError("a bare gRPC call failed") }
  }
}
