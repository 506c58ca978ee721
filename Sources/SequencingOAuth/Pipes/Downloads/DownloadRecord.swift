#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What is known of the resource whose bytes a partial file holds; it is kept in a file beside it.
struct DownloadRecord: Codable, Hashable, Sendable {
  /// Another number is another program's; then the download starts anew.
  private(set) var version = Self.currentVersion
  /// The SHA-256 of the URL, which may hold secrets.
  var url: String
  /// A strong entity tag with its quotes, or else the date of the last modification, as it came.
  var validator: String
  /// The length of the whole, where the server announced it.
  var total: Int64?
  /// When the bytes were written: a system that runs on has all of them, killed processes or not.
  var boot: String?
  /// How many of them a loss of power leaves as they are.
  var synced: Int64 = 0

  private static let currentVersion = 1

  /// What a complete response says of its resource; `nil` where a later one could not be told to be
  /// of the same bytes, so that the download cannot be resumed.
  init?(_ head: HTTPResponseHead, url: URL, total: Int64?, now: Date = Date()) {
    let acceptsRanges = head.headers["Accept-Ranges"]?.lowercased() != "none"
    // Ranges would count the bytes of the coded form.
    guard acceptsRanges, head.isUncoded, let validator = head.strongValidator(now) else {
      return nil
    }
    self.url = Self.digest(url)
    self.validator = validator
    self.total = total
    boot = Self.currentBoot
  }

  /// Reads what an earlier call has left for the same URL.
  init?(_ content: Data, url: URL) {
    guard let record = try? JSONDecoder().decode(Self.self, from: content),
      record.version == Self.currentVersion, record.url == Self.digest(url),
      record.synced >= 0, record.validator.isSendable
    else { return nil }
    self = record
  }

  var json: Data { (try? JSONEncoder().encode(self)) ?? Data() }

  /// Whether a part of a resource is one of this.
  ///
  /// - SeeAlso: RFC 9110, section 15.3.7: a 206 has the entity tag that a 200 would have
  func matches(_ head: HTTPResponseHead) -> Bool {
    guard head.isUncoded else { return false }
    if validator.hasPrefix("\"") { return head.headers.values(for: "ETag") == [validator] }
    return head.headers["ETag"] == nil
      && head.headers.values(for: "Last-Modified").allSatisfy { $0 == validator }
  }

  /// How many of so many bytes are sure to be those that were written.
  func trusted(_ size: Int64) -> Int64 {
    // More than the whole is nothing that this program wrote.
    if size > total ?? .max { return 0 }
    return boot != nil && boot == Self.currentBoot ? size : min(size, synced)
  }

  mutating func continueInThisBoot() {
    boot = Self.currentBoot
  }

  /// Changes whenever the system starts; `nil` where the system does not tell.
  private static let currentBoot: String? = {
    guard let id = try? Data(contentsOf: URL(filePath: "/proc/sys/kernel/random/boot_id")) else {
      return nil
    }
    return String(decoding: id, as: UTF8.self).filter { !$0.isWhitespace }
  }()

  private static func digest(_ url: URL) -> String {
    RandomString.base64URL(Digest.sha256(String(url.absoluteString.prefix { $0 != "#" })))
  }
}

extension HTTPResponseHead {
  /// Whether the content is the resource's bytes as they are.
  var isUncoded: Bool {
    headers.values(for: "Content-Encoding").allSatisfy { $0.lowercased() == "identity" }
  }

  /// What `If-Range` may hold later on.
  ///
  /// A date will do only where there is no entity tag, not even a weak one, and the resource was
  /// left alone for a minute: within one second it may change twice.
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

  /// RFC 9110, section 8.8.3.
  private static func isStrong(_ tag: String) -> Bool {
    tag.utf8.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"")
      && tag.utf8.dropFirst().dropLast().allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 }
  }
}

extension String {
  /// Whether a request's field may have it as its value.
  fileprivate var isSendable: Bool { utf8.allSatisfy { (0x20...0x7E).contains($0) } }
}
