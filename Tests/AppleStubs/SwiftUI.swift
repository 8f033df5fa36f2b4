// swift-format-ignore-file
// Declarations of Apple's SwiftUI framework, as far as this package uses them: for a type check on other systems. Nothing
// here is ever linked or run.

@propertyWrapper @dynamicMemberLookup
public struct Binding<Value> {
    public var wrappedValue: Value { get { fatalError() } nonmutating set {} }
    public var projectedValue: Binding<Value> { self }
    @preconcurrency
    public init(get: @escaping @isolated(any) @Sendable () -> Value, set: @escaping @isolated(any) @Sendable (Value) -> Void) {}
    public subscript<Subject>(dynamicMember keyPath: WritableKeyPath<Value, Subject>) -> Binding<Subject> { fatalError() }
}
// As the framework declares it; there is nothing stored here to check.
extension Binding: @unchecked Sendable where Value: Sendable {}
