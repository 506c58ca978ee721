public import Basics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What goes with a call besides its messages: names with values, in order.
///
/// Names compare without case and are kept in lower case, as they travel. One that ends in `-bin`
/// has bytes, which travel as base64; any other one has printable ASCII. A name may have several
/// values. It is a value: a call keeps a copy of what it is given.
///
/// Printing shows the names only, since a value may be a credential.
public struct RPCMetadata: Sendable, Hashable {
  /// What an entry holds.
  public enum Value: Sendable, Hashable {
    /// Printable ASCII.
    case text(String)
    /// Bytes, of a name that ends in `-bin`.
    case bytes(Data)
  }

  /// A name with one of its values.
  public struct Entry: Sendable, Hashable {
    /// The name, in lower case.
    public let name: String
    /// The value.
    public let value: Value
  }

  private(set) var entries: [Entry] = []

  /// Makes metadata without an entry.
  public init() {}

  /// Makes metadata of texts.
  ///
  /// Throws what ``append(_:for:)-(String,_)`` throws.
  public init(_ texts: KeyValuePairs<String, String>) throws(RPCError) {
    for (name, text) in texts { try append(text, for: name) }
  }

  /// Takes entries that the wire brought.
  init(received entries: [Entry]) {
    self.entries = entries
  }

  // MARK: Reading

  /// The first text of a name.
  public subscript(name: String) -> String? { values(for: name).first }

  /// Every text of a name, in order.
  public func values(for name: String) -> [String] {
    all(name).compactMap { if case .text(let text) = $0 { text } else { nil } }
  }

  /// Every value of a name that ends in `-bin`, in order.
  public func bytes(for name: String) -> [Data] {
    all(name).compactMap { if case .bytes(let data) = $0 { data } else { nil } }
  }

  private func all(_ name: String) -> [Value] {
    let name = name.lowercased()
    return entries.filter { $0.name == name }.map(\.value)
  }

  // MARK: Changing

  /// Gives a name one text, in the place of all that it has.
  ///
  /// Throws what ``append(_:for:)-(String,_)`` throws.
  public mutating func set(_ text: String, for name: String) throws(RPCError) {
    try replace(try Self.entry(text, name))
  }

  /// Gives a name that ends in `-bin` one value, in the place of all that it has.
  ///
  /// Throws what ``append(_:for:)-(Data,_)`` throws.
  public mutating func set(_ bytes: Data, for name: String) throws(RPCError) {
    try replace(try Self.entry(bytes, name))
  }

  /// Adds a text to those that a name has.
  ///
  /// - Throws: ``RPCStatus/invalidArgument`` where the name or the text cannot travel, the name is
  ///   one that gRPC and HTTP keep for themselves, or it ends in `-bin`.
  public mutating func append(_ text: String, for name: String) throws(RPCError) {
    entries.append(try Self.entry(text, name))
  }

  /// Adds bytes to those that a name has.
  ///
  /// - Throws: ``RPCStatus/invalidArgument`` where the name cannot travel or does not end in `-bin`.
  public mutating func append(_ bytes: Data, for name: String) throws(RPCError) {
    entries.append(try Self.entry(bytes, name))
  }

  /// Removes all that a name has.
  public mutating func remove(_ name: String) {
    let name = name.lowercased()
    entries.removeAll { $0.name == name }
  }

  private mutating func replace(_ entry: Entry) throws(RPCError) {
    let index = entries.firstIndex { $0.name == entry.name }
    entries.removeAll { $0.name == entry.name }
    entries.insert(entry, at: index ?? entries.endIndex)
  }

  /// These entries and others; a name that both have keeps only those of the others.
  func merged(with others: RPCMetadata) -> RPCMetadata {
    let names = Set(others.entries.map(\.name))
    return RPCMetadata(received: entries.filter { !names.contains($0.name) } + others.entries)
  }
}

extension RPCMetadata: RandomAccessCollection {
  /// The position of the first entry.
  public var startIndex: Int { entries.startIndex }
  /// The position behind the last entry.
  public var endIndex: Int { entries.endIndex }
  /// The entry at a position.
  public subscript(position: Int) -> Entry { entries[position] }
}

extension RPCMetadata: Redacted {
  /// The names, without values.
  public var description: String { "[" + entries.map(\.name).joined(separator: ", ") + "]" }
}

extension RPCMetadata.Entry: Redacted {
  /// The name, without the value.
  public var description: String { name }
}

extension RPCMetadata.Value: Redacted {
  /// The kind and the size.
  public var description: String {
    switch self {
    case .text(let text): "text of \(text.utf8.count)"
    case .bytes(let data): "\(data.count) bytes"
    }
  }
}
