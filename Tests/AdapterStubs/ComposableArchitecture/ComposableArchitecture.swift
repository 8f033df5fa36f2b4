// Declarations of swift-composable-architecture 1.25.5, November 2026. Only type-checked. What its macros add is written by hand
// in `.ci/adapters`.
@_exported import Dependencies
@_exported import Sharing

public protocol Reducer<State, Action> {
    associatedtype State
    associatedtype Action
    associatedtype Body
    @ReducerBuilder<State, Action>
    var body: Body { get }
}

extension Reducer where Body == Never {
    public var body: Body { fatalError("a declaration") }
}

public typealias ReducerOf<R: Reducer> = Reducer<R.State, R.Action>

@resultBuilder
public enum ReducerBuilder<State, Action> {
    public static func buildExpression<R: Reducer<State, Action>>(_ expression: R) -> R { expression }
    public static func buildBlock<R: Reducer<State, Action>>(_ reducer: R) -> R { reducer }
}

public struct Reduce<State, Action>: Reducer {
    public init(_ reduce: @escaping (_ state: inout State, _ action: Action) -> Effect<Action>) {}
    public typealias Body = Never
}

public struct Effect<Action>: Sendable {
    public static var none: Self { fatalError("a declaration") }
    public static func run(
        priority: TaskPriority? = nil, name: String? = nil,
        operation: @escaping @Sendable (_ send: Send<Action>) async throws -> Void,
        catch handler: (@Sendable (_ error: any Error, _ send: Send<Action>) async -> Void)? = nil,
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
        column: UInt = #column
    ) -> Self { fatalError("a declaration") }
    public static func cancel(id: some Hashable & Sendable) -> Self { fatalError("a declaration") }
    public func cancellable(id: some Hashable & Sendable, cancelInFlight: Bool = false) -> Self { self }
}

@MainActor
public struct Send<Action>: Sendable {
    public func callAsFunction(_ action: Action) {}
}

@MainActor
public final class Store<State, Action> {
    public init<R: Reducer<State, Action>>(
        initialState: @autoclosure () -> R.State, @ReducerBuilder<State, Action> reducer: () -> R,
        withDependencies prepareDependencies: ((inout DependencyValues) -> Void)? = nil
    ) {}
    @discardableResult
    public func send(_ action: Action) -> StoreTask { fatalError("a declaration") }
}

public typealias StoreOf<R: Reducer> = Store<R.State, R.Action>

public struct StoreTask: Hashable, Sendable {
    public func cancel() {}
    public func finish() async {}
}

@MainActor
public final class TestStore<State: Equatable, Action> {
    public init(
        initialState: @autoclosure () -> State, reducer: () -> some Reducer<State, Action>,
        withDependencies prepareDependencies: (inout DependencyValues) -> Void = { _ in },
        fileID: StaticString = #fileID, file filePath: StaticString = #filePath, line: UInt = #line,
        column: UInt = #column
    ) {}

    @discardableResult
    public func send(
        _ action: Action, assert updateStateToExpectedResult: ((_ state: inout State) throws -> Void)? = nil,
        fileID: StaticString = #fileID, file filePath: StaticString = #filePath, line: UInt = #line,
        column: UInt = #column
    ) async -> TestStoreTask { fatalError("a declaration") }

    public func finish(
        timeout duration: Duration? = nil, fileID: StaticString = #fileID, file filePath: StaticString = #filePath,
        line: UInt = #line, column: UInt = #column
    ) async {}
}

extension TestStore where Action: Equatable {
    public func receive(
        _ expectedAction: Action, timeout duration: Duration? = nil,
        assert updateStateToExpectedResult: ((_ state: inout State) throws -> Void)? = nil,
        fileID: StaticString = #fileID, file filePath: StaticString = #filePath, line: UInt = #line,
        column: UInt = #column
    ) async {}
}

public struct TestStoreTask: Hashable, Sendable {
    public func cancel() async {}
    public func finish(timeout duration: Duration? = nil) async {}
}
