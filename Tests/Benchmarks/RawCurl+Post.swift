import CSQCurl

extension RawCurl {
  /// A form that libcurl posts.
  struct Post: Sendable {
    var url: String
    var body: String
  }

  /// Sends POST requests with one handle, one after another.
  ///
  /// Any status except 200 is an error.
  static func posts(_ post: Post, _ count: Int) async throws -> Benchmark.Sample {
    let easy = try handle(post.url)
    defer { curl_easy_cleanup(easy) }
    sq_set_text(easy, CURLOPT_COPYPOSTFIELDS, post.body)
    return try await sample(count) {
      for _ in 0..<count {
        guard curl_easy_perform(easy) == CURLE_OK,
          sq_get_long(easy, CURLINFO_RESPONSE_CODE) == 200
        else { throw BenchmarkError("a bare POST failed") }
      }
    }
  }
}
