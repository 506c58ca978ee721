package import SQLibC

/// A file's metadata, such as its owner, mode and size.
///
/// - SeeAlso: inode(7)
package struct FileStatus: Sendable {
  /// Whether this is an ordinary file, not a folder, link, pipe, socket or device.
  package let isRegular: Bool
  /// Whether this is a character device, such as `/dev/null`.
  let isDevice: Bool
  package let owner: UInt32
  /// The permission bits, without the file's type.
  package let mode: UInt32
  package let size: Int64
  /// The number of the file's names, also called hard links.
  private let links: UInt64
  /// The time of the content's last change, in seconds since 1970.
  private let modified: Int
  private let device: UInt64
  private let inode: UInt64

  /// Reads the status of the file at a path; returns `nil` if there is none.
  ///
  /// If the path names a symbolic link, it is the status of the link itself.
  package init?(at path: String) throws(FileFailure) {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      guard errno == ENOENT else { throw FileFailure(call: "lstat") }
      return nil
    }
    self.init(status)
  }

  /// Creates a status from the result of a system call.
  package init(_ status: stat) {
    isRegular = status.st_mode & S_IFMT == S_IFREG
    isDevice = status.st_mode & S_IFMT == S_IFCHR
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

  /// Creates a status for a test.
  package init(isRegular: Bool = true, owner: UInt32, mode: UInt32, size: Int64 = 0) {
    self.isRegular = isRegular
    isDevice = false
    self.owner = owner
    self.mode = mode
    self.size = size
    links = 1
    modified = 0
    device = 0
    inode = 0
  }

  /// Whether this is an ordinary file that belongs to this user and has only one name.
  package var isOwn: Bool { isRegular && owner == geteuid() && links == 1 }

  /// Whether the permissions allow only the owner to use the file.
  package var isClosedToOthers: Bool { mode & 0o077 == 0 }

  /// How many seconds ago the content last changed.
  package var age: Int { time(nil) - modified }

  /// Returns whether both are the status of the same file, even under different names.
  func isSameFile(as other: FileStatus) -> Bool {
    device == other.device && inode == other.inode
  }

  /// Returns whether two paths name the same file; `false` if one of them names none.
  package static func areSame(_ path: String, _ other: String) throws(FileFailure) -> Bool {
    guard let one = try FileStatus(at: path), let other = try FileStatus(at: other) else {
      return false
    }
    return one.isSameFile(as: other)
  }
}
