import Basics
import CCurl

/// A libcurl easy handle with the options that every request of one client shares.
///
/// Making and configuring one costs more than a small request, so finished ones are kept and each
/// request sets only what differs. It belongs to one request at a time; what the callbacks reach
/// through ``transfer`` is touched only under the event loop's lock while the transfer runs.
final class CurlHandle: @unchecked Sendable {
  let easy: UnsafeMutableRawPointer
  private let version: HTTPClientConfiguration.Version
  /// The request that runs on this handle; held by the event loop meanwhile.
  unowned(unsafe) var transfer: CurlTransfer?
  /// The size of libcurl's buffer for a response.
  var bufferSize = CurlHandle.ownChoice
  /// The URL that is set.
  var url: String?
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  private var fields: UnsafeMutablePointer<curl_slist>?

  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` if libcurl cannot do what is asked.
  init(_ configuration: HTTPClientConfiguration, _ loop: CurlEventLoop) throws(SQOAuthError) {
    guard let easy = curl_easy_init() else {
      throw SQOAuthError(.connectionFailed, "libcurl has no memory for another request")
    }
    self.easy = easy
    version = configuration.version
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    setFixedOptions()
    setCallbacks(loop)
    try setConnection(configuration)
  }

  deinit {
    curl_easy_cleanup(easy)
    curl_slist_free_all(fields)
    errorText.deallocate()
  }

  /// Whether only HTTP/2 will do; some options that it needs do not suit HTTP/1.1.
  var requiresHTTP2: Bool { version == .http2PriorKnowledge }

  func maySpeakHTTP2(to target: RequestTarget) -> Bool {
    switch version {
    case .automatic: target.isSecure
    case .http1: false
    case .http2PriorKnowledge: true
    }
  }

  /// libcurl's own words on the request's failure, on one line.
  var errorDetail: String {
    String(
      String(cString: errorText).prefix(200).map { $0.isASCII && !$0.isNewline ? $0 : " " })
  }

  /// Forgets what failed, and takes no words until ``recordErrors()``.
  ///
  /// Before it has a connection for a request, libcurl looks after those that it keeps, and calls a
  /// failure of another one this request's. It keeps the first words only.
  func ignoreErrors() {
    errorText.pointee = 0
    set(CURLOPT_ERRORBUFFER, nil)
  }

  /// From here on what fails is the request.
  func recordErrors() {
    set(CURLOPT_ERRORBUFFER, errorText)
  }

  /// Takes a list of header lines, which lives until the next one.
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

/// Handles at rest.
final class CurlHandlePool: Sendable {
  private let handles = Locked<[CurlHandle]>([])

  func take() -> CurlHandle? {
    handles.withLock { $0.popLast() }
  }

  /// Keeps a handle for later, or lets it go where enough are kept.
  func give(_ handle: CurlHandle) {
    handles.withLock { if $0.count < 64 { $0.append(handle) } }
  }
}
