import CSQCurl

/// The work of a C program with libcurl, with which the SDK's HTTP client is compared.
///
/// Like the SDK's client, the program asks for compression, and keeps the head and the body of a
/// response until the next one arrives.
enum RawCurl {
  /// Sends requests with one handle, one after another.
  static func sequential(_ url: String, _ count: Int) async throws -> Benchmark.Sample {
    let easy = try handle(url)
    defer { curl_easy_cleanup(easy) }
    return try await sample(count) {
      for _ in 0..<count {
        let code = curl_easy_perform(easy)
        guard code == CURLE_OK else {
          throw BenchmarkError("libcurl failed: \(String(cString: curl_easy_strerror(code)))")
        }
      }
    }
  }

  /// Sends requests with `width` handles on a multi handle, each reused as soon as it is done.
  static func concurrent(_ url: String, _ count: Int, width: Int) async throws -> Benchmark.Sample {
    let multi = curl_multi_init()
    let handles = try (0..<width).map { _ in try handle(url) }
    defer {
      for easy in handles {
        curl_multi_remove_handle(multi, easy)
        curl_easy_cleanup(easy)
      }
      curl_multi_cleanup(multi)
    }
    return try await sample(count) {
      var started = 0
      for easy in handles {
        curl_multi_add_handle(multi, easy)
        started += 1
      }
      var done = 0
      var running: Int32 = 0
      while done < count {
        curl_multi_perform(multi, &running)
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
          guard sq_message_result(message) == CURLE_OK else {
            throw BenchmarkError("libcurl failed")
          }
          let easy = message.pointee.easy_handle
          done += 1
          curl_multi_remove_handle(multi, easy)
          if started < count {
            curl_multi_add_handle(multi, easy)
            started += 1
          }
        }
        if done < count { curl_multi_poll(multi, nil, 0, 1000, nil) }
      }
    }
  }

  static func handle(_ url: String) throws -> UnsafeMutableRawPointer {
    guard let easy = curl_easy_init() else { throw BenchmarkError("no handle") }
    sq_set_text(easy, CURLOPT_URL, url)
    sq_set_long(easy, CURLOPT_NOSIGNAL, 1)
    sq_set_text(easy, CURLOPT_PROXY, "")
    sq_set_text(easy, CURLOPT_ACCEPT_ENCODING, "")
    // The two `Kept` objects of a handle are never released, because they are small.
    sq_set_data_callback(easy, CURLOPT_HEADERFUNCTION, keep)
    sq_set_pointer(easy, CURLOPT_HEADERDATA, Unmanaged.passRetained(Kept()).toOpaque())
    sq_set_data_callback(easy, CURLOPT_WRITEFUNCTION, keep)
    sq_set_pointer(easy, CURLOPT_WRITEDATA, Unmanaged.passRetained(Kept()).toOpaque())
    return easy
  }
}

/// The head or the body of the last response.
private final class Kept {
  var bytes: [UInt8] = []
}

private func keep(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context else { return 0 }
  let kept = Unmanaged<Kept>.fromOpaque(context).takeUnretainedValue()
  // After more than 512 bytes, the buffer begins anew. A body in these benchmarks arrives in one
  // piece.
  if kept.bytes.count > 512 { kept.bytes.removeAll(keepingCapacity: true) }
  kept.bytes.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: size * count))
  return size * count
}
