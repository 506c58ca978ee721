// The parts of UIKit that the apps need, for a system without UIKit.
// swift-format-ignore-file
@_exported import Foundation

/// The texts of the labels on all screens, in order.
@MainActor public let shownTexts = AsyncStream.makeStream(of: String.self)

/// The view controllers for the segues' identifiers, as in the storyboard.
@MainActor public var storyboard: [String: () -> UIViewController] = [:]

/// The screen that was shown last.
@MainActor public private(set) var currentScreen: UIViewController?

@MainActor open class UIView {
  public init() {}
  open func addSubview(_ view: UIView) {}
  open func sizeToFit() {}
}

open class UILabel: UIView {
  open var text: String? {
    didSet { shownTexts.continuation.yield(text ?? "") }
  }
}

open class UIButton: UIView {
  public enum ButtonType { case custom, system }
  public struct State: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let normal = State([])
  }
  public init(type: ButtonType) {}
  open func setImage(_ image: UIImage?, for state: State) {}
  open func setTitle(_ title: String?, for state: State) {}
}

open class UIImage {
  public init?(named name: String) {}
}

open class UIStoryboardSegue {
  public let identifier: String?
  public let destination: UIViewController
  public init(identifier: String?, destination: UIViewController) {
    self.identifier = identifier
    self.destination = destination
  }
}

@MainActor open class UIViewController {
  public let view: UIView! = UIView()
  open var title: String?
  public init() {}
  open func viewDidLoad() {}
  open func prepare(for segue: UIStoryboardSegue, sender: Any?) {}

  open func performSegue(withIdentifier identifier: String, sender: Any?) {
    guard let screen = storyboard[identifier]?() else { return }
    prepare(for: UIStoryboardSegue(identifier: identifier, destination: screen), sender: sender)
    screen.show()
  }

  public func show() {
    currentScreen = self
    viewDidLoad()
  }
}
