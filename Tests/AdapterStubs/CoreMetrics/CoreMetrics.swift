// Declarations of swift-metrics 2.10.1, November 2026. Only type-checked.

public protocol MetricsFactory: Sendable {}

public final class Counter: Sendable {
    public init(label: String, dimensions: [(String, String)] = []) {}
    public init(label: String, dimensions: [(String, String)] = [], factory: any MetricsFactory) {}
    public func increment<Amount: BinaryInteger>(by amount: Amount) {}
    public func increment() {}
}

public final class Meter: Sendable {
    public init(label: String, dimensions: [(String, String)] = []) {}
    public init(label: String, dimensions: [(String, String)] = [], factory: any MetricsFactory) {}
    public func set<Number: BinaryInteger>(_ value: Number) {}
    public func increment() {}
    public func decrement() {}
}

public final class Timer: Sendable {
    public init(label: String, dimensions: [(String, String)] = []) {}
    public init(label: String, dimensions: [(String, String)] = [], factory: any MetricsFactory) {}
    public func recordNanoseconds(_ duration: Int64) {}
}

public enum MetricsSystem: Sendable {
    public static var factory: any MetricsFactory { fatalError("a declaration") }
}
