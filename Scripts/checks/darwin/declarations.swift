// Declarations that Swift cannot import from Apple's headers, so Apple's own module Darwin has them
// in Swift: variadic functions, and macros that are not simple constants.
import Swift
@_exported import Darwin

public var errno: Int32 { get set }
public var environ: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> { get }

public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32
public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32
public func openat(_ fd: Int32, _ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32
public func openat(
  _ fd: Int32, _ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32
public func fcntl(_ fd: Int32, _ cmd: Int32) -> Int32
public func fcntl(_ fd: Int32, _ cmd: Int32, _ value: Int32) -> Int32
public func fcntl(_ fd: Int32, _ cmd: Int32, _ ptr: UnsafeMutableRawPointer) -> Int32
public func ioctl(_ fd: CInt, _ request: UInt, _ value: CInt) -> CInt
public func ioctl(_ fd: CInt, _ request: UInt, _ ptr: UnsafeMutableRawPointer) -> CInt
public func ioctl(_ fd: CInt, _ request: UInt) -> CInt
public var TIOCGWINSZ: UInt { get }

public var S_IFMT: mode_t { get }
public var S_IFIFO: mode_t { get }
public var S_IFCHR: mode_t { get }
public var S_IFDIR: mode_t { get }
public var S_IFBLK: mode_t { get }
public var S_IFREG: mode_t { get }
public var S_IFLNK: mode_t { get }
public var S_IFSOCK: mode_t { get }

public var SIG_DFL: sig_t? { get }
public var SIG_IGN: sig_t { get }
public var SIG_ERR: sig_t { get }
