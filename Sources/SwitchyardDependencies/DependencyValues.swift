/// Dependencies, looked up by key: the values set with `withDependencies` for the running task, else each key's value for the
/// current ``Context``.
///
/// There is no global state: values are bound to a task and the tasks it starts, and end when the operation returns.
public struct DependencyValues: Sendable {
    /// The kind of run; decides which of a key's values replaces one that was not set.
    public enum Context: Sendable, Hashable { case live, test, preview }

    @TaskLocal static var current = DependencyValues()

    /// The kind of run; `live` by default.
    public var context: Context = .live
    private var values: [ObjectIdentifier: any Sendable] = [:]

    public init() {}

    public subscript<Key: DependencyKey>(key: Key.Type) -> Key.Value {
        get {
            if let value = values[ObjectIdentifier(key)] as? Key.Value { return value }
            return switch context {
            case .live: Key.liveValue
            case .test: Key.testValue
            case .preview: Key.previewValue
            }
        }
        set { values[ObjectIdentifier(key)] = newValue }
    }

    /// The value set for a type that is its own key.
    subscript<Value: Sendable>(of type: Value.Type) -> Value? {
        get { values[ObjectIdentifier(type)] as? Value }
        set { values[ObjectIdentifier(type)] = newValue }
    }
}

/// A dependency: its type, and its values if it was not set.
public protocol DependencyKey {
    associatedtype Value: Sendable
    static var liveValue: Value { get }
    /// Should fail, naming the dependency, when it is used, so that a test declares its dependencies.
    static var testValue: Value { get }
    static var previewValue: Value { get }
}

extension DependencyKey {
    public static var testValue: Value { liveValue }
    public static var previewValue: Value { testValue }
}

/// Runs `operation`, and every task that it starts, with values changed by `change`.
@discardableResult
public func withDependencies<Result>(
    _ change: (inout DependencyValues) throws -> Void, operation: () throws -> Result
) rethrows -> Result {
    var values = DependencyValues.current
    try change(&values)
    return try DependencyValues.$current.withValue(values, operation: operation)
}

/// Runs `operation`, and every task that it starts, with values changed by `change`.
@discardableResult
public func withDependencies<Result>(
    isolation: isolated (any Actor)? = #isolation,
    _ change: (inout DependencyValues) async throws -> Void, operation: () async throws -> Result
) async rethrows -> Result {
    var values = DependencyValues.current
    try await change(&values)
    return try await DependencyValues.$current.withValue(values, operation: operation, isolation: isolation)
}

/// A dependency, looked up each time it is read.
///
/// ```swift
/// struct Profile {
///     @Dependency(\.userClient) var users
///     func load() async throws -> UserModel { try await users.currentUser() }
/// }
/// ```
@propertyWrapper
public struct Dependency<Value>: Sendable {
    private let path: any KeyPath<DependencyValues, Value> & Sendable
    /// The values where the wrapper was made; later changes by an enclosing scope take precedence.
    private let captured: DependencyValues

    public init(_ path: any KeyPath<DependencyValues, Value> & Sendable) {
        self.path = path
        captured = DependencyValues.current
    }

    public var wrappedValue: Value {
        DependencyValues.current.isUntouched ? captured[keyPath: path] : DependencyValues.current[keyPath: path]
    }
}

extension DependencyValues {
    /// Whether no scope has set anything in this task, as in a detached one.
    var isUntouched: Bool { values.isEmpty && context == .live }
}
