/// A type that says itself which fields its key paths stand for.
///
/// Few types need it: the field of a stored property is found by its coding key. Those that are left are types with
/// a conversion of their own, ``DocumentConvertible``, and types that refuse to be decoded from made-up values.
///
/// ```swift
/// extension Order: FieldNaming {
///     static func field(of property: PartialKeyPath<Order>) -> FieldPath? {
///         switch property {
///         case \.total: "total"
///         case \.customer.name: "customer.name"
///         default: nil
///         }
///     }
/// }
/// ```
public protocol FieldNaming {
    /// The field that `property` stands for; `nil` leaves it to the coding keys.
    static func field(of property: PartialKeyPath<Self>) -> FieldPath?
}
