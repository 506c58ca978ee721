import SQFoundation

/// One page of a list of files, with the positions of the next, the previous and the last page.
///
/// A position is the permanent number of a file, not an index in the list. Therefore, changes
/// elsewhere in the list do not move the page.
struct DrivePage {
  /// The lifetime of a page token, in seconds of the sandbox's clock.
  private static let lifetime: TimeInterval = 3600

  enum Position: Equatable {
    case after(Int)
    case before(Int)
  }

  let items: ArraySlice<SandboxFile>
  let next: Position?
  let previous: Position?
  let last: Position?

  /// Creates a page of at most `size` files from a list.
  init(_ files: [SandboxFile], at position: Position?, size: Int) {
    switch position {
    case .before(let number):
      let end = files.firstIndex { $0.number >= number } ?? files.endIndex
      items = files[max(0, end - size)..<end]
    case .after(let number):
      let start = files.firstIndex { $0.number > number } ?? files.endIndex
      items = files[start...].prefix(size)
    case nil:
      items = files.prefix(size)
    }
    next = items.endIndex < files.endIndex ? items.last.map { .after($0.number) } : nil
    previous =
      items.startIndex > 0 ? .before(files[items.startIndex - 1].number + 1) : nil
    let lastStart = files.isEmpty ? 0 : (files.count - 1) / size * size
    last = lastStart > 0 ? .after(files[lastStart - 1].number) : nil
  }

  // MARK: Tokens

  /// Creates the page token for a position in an owner's list.
  static func token(_ position: Position, for owner: DriveState.Owner, _ sandbox: SandboxState)
    -> String
  {
    token(position, Int(sandbox.now.timeIntervalSince1970), owner, sandbox)
  }

  /// Returns the position of a page token, or `nil` if the token is malformed, too old or another
  /// owner's.
  static func position(_ token: String, for owner: DriveState.Owner, _ sandbox: SandboxState)
    -> Position?
  {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let number = Int(parts[0].dropFirst()), let issued = Int(parts[1])
    else { return nil }
    let position: Position = parts[0].hasPrefix("a") ? .after(number) : .before(number)
    guard self.token(position, issued, owner, sandbox) == token,
      sandbox.now.timeIntervalSince1970 - Double(issued) < lifetime
    else { return nil }
    return position
  }

  private static func token(
    _ position: Position, _ issued: Int, _ owner: DriveState.Owner, _ sandbox: SandboxState
  ) -> String {
    let place =
      switch position {
      case .after(let number): "a\(number)"
      case .before(let number): "b\(number)"
      }
    let text = "\(place).\(issued)"
    let proof = Crypto.digest(of: "\(sandbox.drive.pageSecret) \(owner) \(text)").prefix(16)
    return "\(text).\(proof)"
  }
}
