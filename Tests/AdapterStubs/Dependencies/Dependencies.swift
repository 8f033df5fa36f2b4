// Declarations of swift-dependencies 1.16.0, November 2026. Only type-checked.
@_exported import IssueReporting

public protocol TestDependencyKey<Value> {
    associatedtype Value: Sendable = Self
    static var previewValue: Value { get }
    static var testValue: Value { get }
}

extension TestDependencyKey {
    public static var previewValue: Value { testValue }
}

public protocol DependencyKey<Value>: TestDependencyKey {
    associatedtype Value = Self
    static var liveValue: Value { get }
    static var previewValue: Value { get }
    static var testValue: Value { get }
}

extension DependencyKey {
    public static var previewValue: Value { liveValue }
    public static var testValue: Value { previewValue }
}

public enum DependencyContext: Sendable {
    case live, preview, test
}

public struct DependencyValues: Sendable {
    public init() {}

    public var context: DependencyContext {
        get { fatalError("a declaration") }
        set {}
    }

    public subscript<Key: TestDependencyKey>(
        key: Key.Type, fileID fileID: StaticString = #fileID, filePath filePath: StaticString = #filePath,
        line line: UInt = #line, column column: UInt = #column, function function: StaticString = #function
    ) -> Key.Value {
        get { fatalError("a declaration") }
        set {}
    }
}

@propertyWrapper
public struct Dependency<Value>: Sendable {
    public init(
        _ keyPath: any KeyPath<DependencyValues, Value> & Sendable, fileID: StaticString = #fileID,
        filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
    ) {}

    public var wrappedValue: Value { fatalError("a declaration") }
}

public func prepareDependencies<Result>(
    _ updateValues: (inout DependencyValues) throws -> Result
) rethrows -> Result { fatalError("a declaration") }

@discardableResult
public func withDependencies<Result>(
    _ updateValuesForOperation: (inout DependencyValues) throws -> Void, operation: () throws -> Result
) rethrows -> Result { fatalError("a declaration") }

@discardableResult
public func withDependencies<Result>(
    isolation: isolated (any Actor)? = #isolation,
    _ updateValuesForOperation: (inout DependencyValues) async throws -> Void, operation: () async throws -> Result
) async rethrows -> Result { fatalError("a declaration") }
