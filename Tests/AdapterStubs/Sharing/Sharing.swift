// Declarations of swift-sharing 2.8.2, November 2026. Only type-checked.

public protocol SharedReaderKey<Value>: Sendable {
    associatedtype Value: Sendable
    associatedtype ID: Hashable = Self
    var id: ID { get }
    func load(context: LoadContext<Value>, continuation: LoadContinuation<Value>)
    func subscribe(context: LoadContext<Value>, subscriber: SharedSubscriber<Value>) -> SharedSubscription
}

extension SharedReaderKey where ID == Self {
    public var id: ID { self }
}

extension SharedReaderKey {
    public typealias Default = _SharedKeyDefault<Self>
}

public struct _SharedKeyDefault<Base: SharedReaderKey>: SharedReaderKey {
    public var id: Base.ID { fatalError("a declaration") }
    public static subscript(
        _ key: Base, default value: @autoclosure @escaping @Sendable () -> Base.Value
    ) -> Self { fatalError("a declaration") }
    public func load(context: LoadContext<Base.Value>, continuation: LoadContinuation<Base.Value>) {}
    public func subscribe(
        context: LoadContext<Base.Value>, subscriber: SharedSubscriber<Base.Value>
    ) -> SharedSubscription { fatalError("a declaration") }
}

public enum LoadContext<Value> {
    case initialValue(Value)
    case userInitiated

    public var initialValue: Value? { fatalError("a declaration") }
}

extension LoadContext: Sendable where Value: Sendable {}

public struct LoadContinuation<Value>: Sendable {
    public func resume(returning value: Value) {}
    public func resume(throwing error: any Error) {}
    public func resumeReturningInitialValue() {}
    public func resume(with result: Result<Value?, any Error>) {}
}

public struct SharedSubscriber<Value>: Sendable {
    public func yield(_ value: Value) {}
    public func yieldLoading(_ isLoading: Bool = true) {}
    public func yieldReturningInitialValue() {}
    public func yield(throwing error: any Error) {}
    public func yield(with result: Result<Value?, any Error>) {}
}

public struct SharedSubscription: Sendable {
    public init(_ cancel: @escaping @Sendable () -> Void) {}
    public func cancel() {}
}

@propertyWrapper
public struct SharedReader<Value>: Sendable {
    public init(value: sending Value) {}
    public init(wrappedValue: @autoclosure () -> Value, _ key: some SharedReaderKey<Value>) {}
    public init<Key: SharedReaderKey<Value>>(_ key: Key.Default) {}
    public init(require key: some SharedReaderKey<Value>) async throws {}

    public var wrappedValue: Value { fatalError("a declaration") }
    public var projectedValue: Self {
        get { self }
        nonmutating set {}
    }
    public var isLoading: Bool { fatalError("a declaration") }
    public var loadError: (any Error)? { fatalError("a declaration") }
    public func load() async throws {}
    public func load(_ key: some SharedReaderKey<Value>) async throws {}
}

extension SharedReader: Equatable where Value: Equatable {
    public static func == (left: Self, right: Self) -> Bool { fatalError("a declaration") }
}
