/// What code depends on, found by key: the values that `withDependencies` set for the running task, else
/// those that each key has for the present ``Context``.
///
/// Nothing here is global: values are bound to a task and the tasks it starts, and are gone when the operation returns.
public struct DependencyValues: Sendable {
    /// What kind of run this is; decides which of a key's values stands in for one that nobody set.
    public enum Context: Sendable, Hashable { case live, test, preview }

    @TaskLocal static var current = DependencyValues()

    /// The kind of run. `live` unless somebody says otherwise.
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

    /// What was set of a type that is its own key.
    subscript<Value: Sendable>(of type: Value.Type) -> Value? {
        get { values[ObjectIdentifier(type)] as? Value }
        set { values[ObjectIdentifier(type)] = newValue }
    }
}

/// One dependency: its type, and what stands in where nobody set it.
public protocol DependencyKey {
    associatedtype Value: Sendable
    static var liveValue: Value { get }
    /// Should fail, by name, when it is used: a test says what it depends on.
    static var testValue: Value { get }
    static var previewValue: Value { get }
}

extension DependencyKey {
    public static var testValue: Value { liveValue }
    public static var previewValue: Value { testValue }
}

/// Runs `operation` with values changed by `change`, for it and every task that it starts.
@discardableResult
public func withDependencies<Result>(
    _ change: (inout DependencyValues) throws -> Void, operation: () throws -> Result
) rethrows -> Result {
    var values = DependencyValues.current
    try change(&values)
    return try DependencyValues.$current.withValue(values, operation: operation)
}

/// Runs `operation` with values changed by `change`, for it and every task that it starts.
@discardableResult
public func withDependencies<Result>(
    isolation: isolated (any Actor)? = #isolation,
    _ change: (inout DependencyValues) async throws -> Void, operation: () async throws -> Result
) async rethrows -> Result {
    var values = DependencyValues.current
    try await change(&values)
    return try await DependencyValues.$current.withValue(values, operation: operation, isolation: isolation)
}

/// A dependency, looked up whenever it is read.
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
    /// What was set where the wrapper was made; later changes by an enclosing scope still come first.
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
    /// Whether no scope has set anything in this task, as in one that was detached.
    var isUntouched: Bool { values.isEmpty && context == .live }
}
