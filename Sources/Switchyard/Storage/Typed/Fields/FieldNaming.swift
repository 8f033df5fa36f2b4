/// A type that declares which fields its key paths stand for.
///
/// Few types need this, since the field of a stored property is found by its coding key. It is for types with their own
/// conversion (``DocumentConvertible``), and for types that reject made-up values.
///
/// ```swift
/// struct Order: Codable, Sendable, FieldNaming {
///     struct Customer: Codable, Sendable { var name: String }
///     var total: Int
///     var customer: Customer
///
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
