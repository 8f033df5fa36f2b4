#if canImport(SwiftUI)
    public import Switchyard
    public import SwiftUI

    // SwiftUI reads and writes the bindings of controls on the main actor. The types of its closures do not say so, hence
    // `assumeIsolated`, which stops the program if that is ever not so.

    extension TypedSnapshot.Row {
        /// One field, for a control: `Toggle("Done", isOn: row.binding(\.done))`.
        ///
        /// - Parameters:
        ///   - property: The property of the field.
        ///   - onFailure: Called with the reason after a rejected edit has been undone.
        @MainActor
        public func binding<Field: Encodable & Sendable>(
            _ property: any KeyPath<Value, Field> & Sendable,
            onFailure: @escaping @MainActor (StorageError) -> Void = { _ in }
        ) -> Binding<Field> {
            Binding(
                get: { value[keyPath: property] },
                set: { newValue in
                    MainActor.assumeIsolated { _ = edit(property, to: newValue, onFailure: onFailure) }
                })
        }
    }

    extension LiveQuery {
        /// One field of a row, for a control; ``editError`` says why an edit failed.
        ///
        /// - Parameters:
        ///   - row: A row of ``rows``. The binding shows its value until a newer row takes its place.
        ///   - property: The property of the field.
        public func binding<Field: Encodable & Sendable>(
            _ row: Row, _ property: any KeyPath<Value, Field> & Sendable
        ) -> Binding<Field> {
            Binding(
                get: { row.value[keyPath: property] },
                set: { [weak self] newValue in
                    MainActor.assumeIsolated { _ = self?.update(row, property, to: newValue) }
                })
        }
    }

    extension LiveDocument {
        /// One field, for a control; ``editError`` says why an edit failed.
        ///
        /// - Parameters:
        ///   - property: The property of the field.
        ///   - placeholder: Shown while there is no value.
        public func binding<Field: Encodable & Sendable>(
            _ property: any KeyPath<Value, Field> & Sendable, default placeholder: Field
        ) -> Binding<Field> {
            Binding(
                get: { [weak self] in
                    MainActor.assumeIsolated { self?.value?[keyPath: property] ?? placeholder }
                },
                set: { [weak self] newValue in
                    MainActor.assumeIsolated { _ = self?.update(property, to: newValue) }
                })
        }
    }
#endif
