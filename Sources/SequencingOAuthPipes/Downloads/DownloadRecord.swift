import SQBasics
import SQCrypto
import SQFoundation
import SequencingOAuth

/// The facts about a partial file's resource, stored in a separate file in the same folder.
struct DownloadRecord: Codable, Hashable, Sendable {
  /// The version of the format; a record with another version is ignored.
  private(set) var version = Self.currentVersion
  /// The SHA-256 hash of the URL and of its user, because these may be secrets.
  var url: String
  /// The strong entity tag with its quotes, or the date of the last modification, as received.
  ///
  /// It is `nil` if no later call can use the bytes; the record then only shows that a download
  /// wrote them.
  private(set) var validator: String?
  /// The length of the whole resource; `nil` if the server did not announce it.
  var total: Int64?
  /// The identifier of the system's boot when the bytes were written; `nil` if unknown.
  ///
  /// Until the next boot, the file has all written bytes, even if the process was killed.
  var boot: String?
  /// The number of bytes that are safely on the disk, even after a power failure.
  var synced: Int64 = 0

  private static let currentVersion = 1

  /// Creates the record for a complete response; `nil` if its download cannot be resumed.
  ///
  /// A download can be resumed only if the SDK can recognize that a later response has the same
  /// bytes.
  init?(
    _ head: WebResponseHead, url: URL, owner: String? = nil, total: Int64?, now: Date = Date()
  ) {
    let acceptsRanges = head.headers["Accept-Ranges"]?.asciiLowercased() != "none"
    // If the content is encoded, ranges count the encoded bytes.
    guard acceptsRanges, head.isUncoded, let validator = head.strongValidator(now) else {
      return nil
    }
    self.url = Self.digest(url, owner)
    self.validator = validator
    self.total = total
    boot = Self.currentBoot
  }

  /// Creates the record of bytes that no later call can use.
  init(unusableFrom url: URL) {
    self.url = Self.digest(url, nil)
  }

  /// Decodes the record of an earlier call, for any URL; `nil` if its bytes cannot be used.
  init?(_ content: Data) {
    guard let record = try? JSONDecoder().decode(Self.self, from: content),
      record.version == Self.currentVersion, record.synced >= 0,
      record.validator?.isPrintableASCII == true
    else { return nil }
    self = record
  }

  /// Returns whether the bytes are those of a URL as a user sees it.
  ///
  /// Two users may get different content with the same validator (RFC 9110, section 8.8.1).
  func isOf(_ url: URL, _ owner: String?) -> Bool { self.url == Self.digest(url, owner) }

  /// Returns whether a file's content is a download's record, for any URL and in any version.
  static func isRecord(_ content: Data) -> Bool {
    struct Start: Decodable {
      let version: Int
      let url: String
    }
    let start = try? JSONDecoder().decode(Start.self, from: content)
    return start?.url.utf8.count == digestLength
  }

  var json: Data { (try? JSONEncoder().encode(self)) ?? Data() }

  /// Returns whether a response with status 206 is part of the resource's version that this record
  /// describes.
  ///
  /// - SeeAlso: RFC 9110, section 15.3.7: responses 206 and 200 have the same entity tag
  func matches(_ head: WebResponseHead) -> Bool {
    guard head.isUncoded else { return false }
    guard let validator else { return false }
    if validator.hasPrefix("\"") { return head.headers.values(for: "ETag") == [validator] }
    return head.headers["ETag"] == nil
      && head.headers.values(for: "Last-Modified").allSatisfy { $0 == validator }
  }

  /// Returns how many bytes of a file of `size` bytes are certainly unchanged.
  func trusted(_ size: Int64) -> Int64 {
    // A file larger than the whole resource was not written by this program.
    if size > total ?? .max { return 0 }
    return boot != nil && boot == Self.currentBoot ? size : min(size, synced)
  }

  mutating func continueInThisBoot() {
    boot = Self.currentBoot
  }

  /// The identifier of the system's current boot; `nil` if the system has none.
  private static let currentBoot: String? = {
    guard let id = try? Data(contentsOf: URL(filePath: "/proc/sys/kernel/random/boot_id")) else {
      return nil
    }
    return String(decoding: id, as: UTF8.self).filter { !$0.isWhitespace }
  }()

  /// The length of a SHA-256 hash in Base64 without padding.
  private static let digestLength = 43

  private static func digest(_ url: URL, _ owner: String?) -> String {
    let url = String(url.absoluteString.prefix { $0 != "#" })
    return Base64URL.encode(Digest.sha256(owner.map { "\(url)\n\($0)" } ?? url))
  }
}

extension WebResponseHead {
  /// Whether the content is not encoded, and so consists of the resource's own bytes.
  var isUncoded: Bool {
    headers.values(for: "Content-Encoding").allSatisfy { $0.asciiLowercased() == "identity" }
  }

  /// Returns the validator for the `If-Range` field of a later request; `nil` if there is none.
  ///
  /// It is a strong entity tag. If there is no entity tag at all, it may be the date of the last
  /// modification, but only if that is at least a minute before the response: within one second, a
  /// resource may change twice.
  ///
  /// - SeeAlso: RFC 9110, sections 8.8.2.2 and 13.1.5
  fileprivate func strongValidator(_ now: Date) -> String? {
    let tags = headers.values(for: "ETag")
    guard tags.isEmpty else { return tags.count == 1 && Self.isStrong(tags[0]) ? tags[0] : nil }
    let dates = headers.values(for: "Last-Modified")
    guard dates.count == 1, dates[0].isPrintableASCII,
      let modified = HTTPDate.parse(dates[0], now: now),
      let date = headers["Date"].flatMap({ HTTPDate.parse($0, now: now) }),
      date.timeIntervalSince(modified) >= 60
    else { return nil }
    return dates[0]
  }

  /// Returns whether an entity tag is strong and well-formed (RFC 9110, section 8.8.3).
  private static func isStrong(_ tag: String) -> Bool {
    tag.utf8.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"")
      && tag.utf8.dropFirst().dropLast().allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 }
  }
}
