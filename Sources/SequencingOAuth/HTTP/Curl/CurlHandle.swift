import CSQCurl
import SQBasics
import SQFiles
import SQFoundation

/// A libcurl easy handle with the options that every request of one client shares.
///
/// Creating and configuring a handle costs more than a small request. So the client keeps the
/// handles of finished requests, and each request sets only the options that differ. A handle
/// belongs to one request at a time. While the transfer runs, ``transfer`` is used only under the
/// event loop's lock.
final class CurlHandle: @unchecked Sendable {
  let easy: UnsafeMutableRawPointer
  /// The pointer to the ``CurlMulti``, for libcurl's callbacks.
  let multiContext: UnsafeMutableRawPointer
  private let version: HTTPTransportConfiguration.Version
  let proxy: HTTPTransportConfiguration.Proxy
  /// The transfer that runs on this handle; the event loop keeps it alive while it runs.
  unowned(unsafe) var transfer: CurlTransfer?
  /// The size of libcurl's buffer for a response, in bytes.
  var bufferSize = CurlHandle.ownChoice
  /// The expected length of the next response's content: the length of the last one, in bytes.
  ///
  /// The caller's thread reserves that much memory before it passes the transfer to the event loop.
  /// If the loop's thread reserved it, each thread would free the other's memory, and the C
  /// library's allocator takes a lock for that.
  var usualLength = 0
  static let largestUsualLength = 64 * 1024
  /// The URL that is currently set; `nil` if none is set.
  var url: String?
  /// The certificates, in PEM, that replace the system's file of authorities; `nil` to keep the
  /// file.
  var authorities: Data?
  var trustsSystemAuthorities = true
  /// Why the file of authorities could not be read; `nil` if it was read or is not needed.
  var unreadAuthorities: FileFailure?
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: sq_error_size)
  private var fields: UnsafeMutablePointer<curl_slist>?

  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` if a setting is invalid, or libcurl does
  ///   not support it; ``SQOAuthError/Code/connectionFailed`` if libcurl is out of memory.
  init(_ configuration: HTTPTransportConfiguration, _ loop: CurlEventLoop) throws(SQOAuthError) {
    guard let easy = curl_easy_init() else {
      throw SQOAuthError(.connectionFailed, "libcurl has no memory for another request")
    }
    self.easy = easy
    multiContext = loop.multiContext
    version = configuration.version
    proxy = configuration.proxy
    errorText.initialize(repeating: 0, count: sq_error_size)
    setFixedOptions()
    setCallbacks()
    try setConnection(configuration)
  }

  deinit {
    curl_easy_cleanup(easy)
    curl_slist_free_all(fields)
    errorText.deallocate()
  }

  func maySpeakHTTP2(to target: RequestTarget) -> Bool {
    version == .automatic && target.isSecure
  }

  /// libcurl's text about the request's failure, as one line.
  var errorDetail: String {
    String(
      String(cString: errorText).prefix(200).map { $0.isASCII && !$0.isNewline ? $0 : " " })
  }

  /// Clears libcurl's error text, and makes libcurl store none until ``recordErrors()``.
  ///
  /// Before libcurl has a connection for the request, it checks its open connections. It reports
  /// the failure of such a connection as the request's failure, and stores only the first text.
  func ignoreErrors() {
    errorText.pointee = 0
    set(CURLOPT_ERRORBUFFER, nil)
  }

  /// Makes libcurl store its error text again, because later failures are the request's own.
  func recordErrors() {
    set(CURLOPT_ERRORBUFFER, errorText)
  }

  /// Sets the list of header lines; the handle owns it until the next list is set.
  func setFields(_ list: UnsafeMutablePointer<curl_slist>?) {
    set(CURLOPT_HTTPHEADER, list)
    curl_slist_free_all(fields)
    fields = list
  }

  // MARK: Setting one option

  @discardableResult
  func set(_ option: CURLoption, _ value: Int) -> Bool {
    sq_set_long(easy, option, value) == CURLE_OK
  }

  @discardableResult
  func set(_ option: CURLoption, size value: Int64) -> Bool {
    sq_set_size(easy, option, curl_off_t(value)) == CURLE_OK
  }

  @discardableResult
  func set(_ option: CURLoption, text: String?) -> Bool {
    sq_set_text(easy, option, text) == CURLE_OK
  }

  @discardableResult
  func set(_ option: CURLoption, _ pointer: UnsafeMutableRawPointer?) -> Bool {
    sq_set_pointer(easy, option, pointer) == CURLE_OK
  }
}

/// The handles that no request uses at the moment; its methods may be called on any thread.
final class CurlHandlePool: Sendable {
  private let handles = Locked<[CurlHandle]>([])

  func take() -> CurlHandle? {
    handles.withLock { $0.popLast() }
  }

  /// Keeps a handle for a later request, or drops it if 64 handles are already kept.
  func give(_ handle: CurlHandle) {
    handles.withLock { if $0.count < 64 { $0.append(handle) } }
  }
}
