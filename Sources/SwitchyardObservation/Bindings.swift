#if canImport(SwiftUI)
    public import Switchyard
    public import SwiftUI

    extension TypedSnapshot.Row {
        /// One field, for a control: `Toggle("Done", isOn: row.binding(\.done))`.
        ///
        /// - Parameter onFailure: Told why an edit was refused, after it has been undone.
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
        /// - Parameter placeholder: Shown while there is no value.
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
