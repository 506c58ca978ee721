import SQBasics
import SQFoundation
public import SequencingOAuth

extension HTTPTransport {
  /// Runs this HTTP client against a server on a loopback address, and returns each duty that it
  /// breaks.
  ///
  /// ```swift
  /// #expect(try await MyTransport().brokenDuties() == [])
  /// ```
  ///
  /// The client sends about 75 requests over http to 127.0.0.1, and one to a closed port of
  /// 127.0.0.2. It must allow these requests and use no proxy for them. The SDK calls the client as
  /// it does for the requests of an account. If the client ignores `WebRequest.timeout`, for
  /// example, the SDK cancels the request. The method takes about two seconds if the client keeps
  /// its duties, and otherwise at most a minute; but if the client never returns, the method does
  /// not return either. TLS is not checked.
  ///
  /// - Parameter duties: The duties to check; by default all.
  /// - Returns: The broken duties, in the order of `duties`.
  /// - Throws: `SQOAuthError.Code.fileFailed` or `SQOAuthError.Code.connectionFailed` if the method
  ///   cannot create its files or start its server.
  public func brokenDuties(
    among duties: [HTTPTransportDuty] = HTTPTransportDuty.allCases
  ) async throws(SQOAuthError) -> [BrokenTransportDuty] {
    let probe = try TransportProbe(self)
    let findings = await withTaskGroup(of: (HTTPTransportDuty, String?).self) { group in
      for duty in duties {
        group.addTask { (duty, await probe.finding(about: duty)) }
      }
      return await group.reduce(into: [HTTPTransportDuty: String]()) { $0[$1.0] = $1.1 }
    }
    await probe.end()
    return duties.compactMap { duty in
      findings[duty].map { BrokenTransportDuty(duty: duty, finding: $0) }
    }
  }
}

extension TransportProbe {
  /// Returns how the client breaks a duty; `nil` if it keeps the duty.
  fileprivate func finding(about duty: HTTPTransportDuty) async -> String? {
    do {
      try await check(duty)
      return nil
    } catch let finding as Finding {
      return finding.text
    } catch let error as SQOAuthError {
      return "the request failed: \(error.code): \(error.message)"
    } catch {
      return "the check failed with \(type(of: error))"
    }
  }

  private func check(_ duty: HTTPTransportDuty) async throws {
    switch duty {
    case .method: try await checkMethod()
    case .url: try await checkURL()
    case .fields: try await checkFields()
    case .emptyBody: try await checkEmptyBody()
    case .bytesBody: try await checkBytesBody()
    case .fileBody: try await checkFileBody()
    case .streamBody: try await checkStreamBody()
    case .memory: try await checkMemory()
    case .file: try await checkFile()
    case .fileMode: try await checkFileMode()
    case .fileLink: try await checkFileLink()
    case .stream: try await checkStream()
    case .status: try await checkStatus()
    case .responseFields: try await checkResponseFields()
    case .truncation: try await checkTruncation()
    case .once: try await checkOnce()
    case .redirects: try await checkRedirects()
    case .cookies: try await checkCookies()
    case .cache: try await checkCache()
    case .compression: try await checkCompression()
    case .responseLimit: try await checkResponseLimit()
    case .timeLimit: try await checkTimeLimit()
    case .idleLimit: try await checkIdleLimit()
    case .progress: try await checkProgress()
    case .cancellation: try await checkCancellation()
    case .interruption: try await checkInterruption()
    case .refusedConnection: try await checkRefusedConnection()
    case .concurrency: try await checkConcurrency()
    }
  }
}
