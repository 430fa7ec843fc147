package inventory

import "plimsoll/internal/document"

// Schema is the JSON Schema of an inventory, for editors. It is made from the types that read the file.
func Schema() document.Schema { return document.SchemaOf[Inventory]("Plimsoll inventory") }
