#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What the system knows of a file besides its content.
///
/// - SeeAlso: inode(7)
package struct FileStatus: Sendable {
  /// Whether it is neither a folder nor a link, a pipe, a socket or a device.
  let isRegular: Bool
  let owner: UInt32
  /// The rights alone, without the kind.
  let mode: UInt32
  package let size: Int64
  /// How many names it has.
  private let links: UInt64
  /// When its content last changed, in seconds since 1970.
  private let modified: Int
  private let device: UInt64
  private let inode: UInt64

  /// The status of what is at a path, of a link itself; `nil` if nothing is there.
  package init?(at path: String) throws(FileError) {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      guard errno == ENOENT else { throw FileError(call: "lstat") }
      return nil
    }
    self.init(status)
  }

  /// What a call of the system said.
  init(_ status: stat) {
    isRegular = status.st_mode & S_IFMT == S_IFREG
    owner = UInt32(status.st_uid)
    mode = UInt32(status.st_mode) & 0o7777
    size = Int64(status.st_size)
    #if os(Linux)
      modified = status.st_mtim.tv_sec
    #else
      modified = status.st_mtimespec.tv_sec
    #endif
    links = UInt64(status.st_nlink)
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
  }

  /// A status that the tests make up.
  package init(isRegular: Bool = true, owner: UInt32, mode: UInt32, size: Int64 = 0) {
    self.isRegular = isRegular
    self.owner = owner
    self.mode = mode
    self.size = size
    links = 1
    modified = 0
    device = 0
    inode = 0
  }

  /// Whether it is an ordinary file of this user that has no second name.
  var isOwn: Bool { isRegular && owner == geteuid() && links == 1 }

  /// How many seconds ago its content last changed.
  var age: Int { time(nil) - modified }

  /// Whether the two are one file under whatever names.
  func isSameFile(as other: FileStatus) -> Bool {
    device == other.device && inode == other.inode
  }
}
