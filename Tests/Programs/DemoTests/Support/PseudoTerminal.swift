import Basics
import Foundation

/// A terminal without a window: the program has one end, the test plays the person at the other.
final class PseudoTerminal: Sendable {
  /// `TIOCSPTLCK` and `TIOCGPTN`, which are macros that do not import.
  private static let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)

  /// The program's end.
  let handle: FileHandle
  private let person: FileHandle
  private let shown = Locked(Data())
  /// How many frames were complete when the person last pressed keys.
  private let framesBefore = Locked(0)

  init(columns: UInt16 = 80, rows: UInt16 = 30) throws {
    // By hand, since the module does not have posix_openpt and its kin.
    let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var isLocked: Int32 = 0
    var number: Int32 = 0
    guard master >= 0, ioctl(master, Self.setLock, &isLocked) == 0,
      ioctl(master, Self.getNumber, &number) == 0
    else { throw POSIXError(.ENXIO) }
    person = FileHandle(fileDescriptor: master, closeOnDealloc: true)
    let slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard slave >= 0 else { throw POSIXError(.ENXIO) }
    handle = FileHandle(fileDescriptor: slave, closeOnDealloc: true)
    resize(columns: columns, rows: rows)
    Thread.detachNewThread { [weak self, person] in
      var bytes = [UInt8](repeating: 0, count: 4096)
      // Not FileHandle's own, which waits until the buffer is full.
      while case let count = read(person.fileDescriptor, &bytes, bytes.count), count > 0 {
        guard let self else { return }
        shown.withLock { $0.append(contentsOf: bytes[..<count]) }
      }
    }
  }

  func resize(columns: UInt16, rows: UInt16) {
    var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(person.fileDescriptor, UInt(TIOCSWINSZ), &size)
  }

  func press(_ keys: String) throws {
    framesBefore.withLock { $0 = frames.count }
    try person.write(contentsOf: Data(keys.utf8))
  }

  /// Everything that the program has sent, with its control sequences.
  var everything: String { shown.withLock { String(decoding: $0, as: UTF8.self) } }

  /// The text of the last frame that has come to its end.
  var frame: String { Self.text(of: frames.last ?? "") }

  /// The newest frame with a text, since the one in which the person last pressed keys.
  ///
  /// The program may draw another frame at any moment, before the test looks.
  func frame(with text: String) -> String? {
    frames.dropFirst(max(0, framesBefore.withLock(\.self) - 1)).reversed().lazy.map(Self.text)
      .first { $0.contains(text) }
  }

  /// Every frame that has come to its end, with its control sequences.
  private var frames: ArraySlice<String> {
    everything.components(separatedBy: "\u{1B}[J").dropLast()
  }

  private static func text(of frame: String) -> String {
    let last = frame.components(separatedBy: "\u{1B}[H").last ?? ""
    return last.replacing(#/\x1B\[[0-9;?]*[A-Za-z]/#, with: "")
  }

  /// The terminal's modes: echo, line input, and the keys that send signals.
  var modes: [UInt32] {
    var settings = termios()
    tcgetattr(handle.fileDescriptor, &settings)
    return [settings.c_iflag, settings.c_oflag, settings.c_lflag]
  }
}
