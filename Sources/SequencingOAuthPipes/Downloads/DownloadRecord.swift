import SQBasics
import SQCrypto
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What the SDK knows of the resource of a partial file; it is stored in a file in the same folder.
struct DownloadRecord: Codable, Hashable, Sendable {
  /// The version of the format; a record with another version is ignored.
  private(set) var version = Self.currentVersion
  /// The SHA-256 of the URL, which may hold secrets.
  var url: String
  /// A strong entity tag with its quotes, or else the date of the last modification, as it came.
  ///
  /// `nil` if no later call can use the bytes; the record then only says that a download wrote them.
  private(set) var validator: String?
  /// The length of the whole resource; `nil` if the server did not announce it.
  var total: Int64?
  /// The start of the system under which the bytes were written; `nil` if it is not known.
  ///
  /// Until the next start, the system has all written bytes, even if the process was killed.
  var boot: String?
  /// How many bytes are certainly on the disk, even after a loss of power.
  var synced: Int64 = 0

  private static let currentVersion = 1

  /// Makes the record of a complete response's resource; `nil` if its download cannot be resumed.
  ///
  /// It can be resumed only if the SDK can recognize that a later response has the same bytes.
  init?(_ head: HTTPResponseHead, url: URL, total: Int64?, now: Date = Date()) {
    let acceptsRanges = head.headers["Accept-Ranges"]?.asciiLowercased() != "none"
    // Ranges would count the bytes of the coded form.
    guard acceptsRanges, head.isUncoded, let validator = head.strongValidator(now) else {
      return nil
    }
    self.url = Self.digest(url)
    self.validator = validator
    self.total = total
    boot = Self.currentBoot
  }

  /// Makes the record of bytes that no later call can use.
  init(unusableFrom url: URL) {
    self.url = Self.digest(url)
  }

  /// Reads the record that an earlier call has left; `nil` if its bytes cannot be used for the URL.
  init?(_ content: Data, url: URL) {
    guard let record = try? JSONDecoder().decode(Self.self, from: content),
      record.version == Self.currentVersion, record.url == Self.digest(url),
      record.synced >= 0, record.validator?.isSendable == true
    else { return nil }
    self = record
  }

  /// Whether a download has written a content: it is a record, of any URL and any version.
  static func isRecord(_ content: Data) -> Bool {
    struct Start: Decodable {
      let version: Int
      let url: String
    }
    let start = try? JSONDecoder().decode(Start.self, from: content)
    return start?.url.utf8.count == digestLength
  }

  var json: Data { (try? JSONEncoder().encode(self)) ?? Data() }

  /// Whether a response of status 206 is a part of this record's resource.
  ///
  /// - SeeAlso: RFC 9110, section 15.3.7: a 206 has the entity tag that a 200 would have
  func matches(_ head: HTTPResponseHead) -> Bool {
    guard head.isUncoded else { return false }
    guard let validator else { return false }
    if validator.hasPrefix("\"") { return head.headers.values(for: "ETag") == [validator] }
    return head.headers["ETag"] == nil
      && head.headers.values(for: "Last-Modified").allSatisfy { $0 == validator }
  }

  /// How many bytes of a file of `size` bytes are certainly as they were written.
  func trusted(_ size: Int64) -> Int64 {
    // A file larger than the whole resource was not written by this program.
    if size > total ?? .max { return 0 }
    return boot != nil && boot == Self.currentBoot ? size : min(size, synced)
  }

  mutating func continueInThisBoot() {
    boot = Self.currentBoot
  }

  /// An identifier that changes each time the system starts; `nil` if the system has none.
  private static let currentBoot: String? = {
    guard let id = try? Data(contentsOf: URL(filePath: "/proc/sys/kernel/random/boot_id")) else {
      return nil
    }
    return String(decoding: id, as: UTF8.self).filter { !$0.isWhitespace }
  }()

  /// The length of a SHA-256 in Base64 without padding.
  private static let digestLength = 43

  private static func digest(_ url: URL) -> String {
    Base64URL.encode(Digest.sha256(String(url.absoluteString.prefix { $0 != "#" })))
  }
}

extension HTTPResponseHead {
  /// Whether the content has no coding, so that it is the resource's own bytes.
  var isUncoded: Bool {
    headers.values(for: "Content-Encoding").allSatisfy { $0.asciiLowercased() == "identity" }
  }

  /// The validator that a later request may send in `If-Range`; `nil` if there is none.
  ///
  /// It is a strong entity tag. If there is no entity tag, not even a weak one, it may be the date
  /// of the last modification, but only if that is at least a minute before the response: within
  /// one second, a resource may change twice.
  ///
  /// - SeeAlso: RFC 9110, sections 8.8.2.2 and 13.1.5
  fileprivate func strongValidator(_ now: Date) -> String? {
    let tags = headers.values(for: "ETag")
    guard tags.isEmpty else { return tags.count == 1 && Self.isStrong(tags[0]) ? tags[0] : nil }
    let dates = headers.values(for: "Last-Modified")
    guard dates.count == 1, dates[0].isSendable, let modified = HTTPDate.parse(dates[0], now: now),
      let date = headers["Date"].flatMap({ HTTPDate.parse($0, now: now) }),
      date.timeIntervalSince(modified) >= 60
    else { return nil }
    return dates[0]
  }

  /// Whether an entity tag is strong and well-formed (RFC 9110, section 8.8.3).
  private static func isStrong(_ tag: String) -> Bool {
    tag.utf8.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"")
      && tag.utf8.dropFirst().dropLast().allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 }
  }
}

extension String {
  /// Whether a request's field may have the text as its value.
  fileprivate var isSendable: Bool { utf8.allSatisfy { (0x20...0x7E).contains($0) } }
}
