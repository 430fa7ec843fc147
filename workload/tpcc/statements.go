package tpcc

import "fmt"

// The statements of the five transactions, by index.
const (
	customerAndTax = iota // new_order
	nextOrder
	takeOrder
	addOrder
	addNewOrder
	itemOf
	takeStock
	addLine

	payWarehouse // payment
	warehouseAddress
	payDistrict
	districtAddress
	customersOfName
	payingCustomer
	customerData
	payCustomer
	payBadCustomer
	addHistory

	askingCustomer // order_status
	lastOrder
	linesOfOrder

	oldestNewOrder // delivery
	dropNewOrder
	customerOfOrder
	carryOrder
	deliverLines
	amountOfOrder
	creditCustomer

	orderCount // stock_level
	lowStock

	stockOfDistrict // new_order: with the text of district 1, then 2, …
)

var texts = [stockOfDistrict]string{
	customerAndTax: "SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse WHERE w_id = ? AND c_w_id = w_id AND c_d_id = ? AND c_id = ?",
	nextOrder:      "SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = ? AND d_id = ? FOR UPDATE",
	takeOrder:      "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ? AND d_id = ?",
	addOrder:       "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)",
	addNewOrder:    "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)",
	itemOf:         "SELECT i_price, i_name, i_data FROM item WHERE i_id = ?",
	takeStock: "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + ?" +
		" WHERE s_i_id = ? AND s_w_id = ?",
	addLine: "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info)" +
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",

	payWarehouse:     "UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?",
	warehouseAddress: "SELECT w_street_1, w_street_2, w_city, w_state, w_zip, w_name FROM warehouse WHERE w_id = ?",
	payDistrict:      "UPDATE district SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?",
	districtAddress:  "SELECT d_street_1, d_street_2, d_city, d_state, d_zip, d_name FROM district WHERE d_w_id = ? AND d_id = ?",
	customersOfName:  "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first",
	payingCustomer: "SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_credit, c_credit_lim," +
		" c_discount, c_balance, c_since FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ? FOR UPDATE",
	customerData: "SELECT c_data FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
	payCustomer: "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, c_payment_cnt = c_payment_cnt + 1" +
		" WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
	payBadCustomer: "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, c_payment_cnt = c_payment_cnt + 1, c_data = ?" +
		" WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
	addHistory: "INSERT INTO history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data) VALUES (?, ?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)",

	askingCustomer: "SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
	lastOrder:      "SELECT o_id, o_carrier_id, o_entry_d FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? ORDER BY o_id DESC LIMIT 1",
	linesOfOrder:   "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",

	oldestNewOrder:  "SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? ORDER BY no_o_id LIMIT 1 FOR UPDATE",
	dropNewOrder:    "DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?",
	customerOfOrder: "SELECT o_c_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?",
	carryOrder:      "UPDATE orders SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?",
	deliverLines:    "UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
	amountOfOrder:   "SELECT SUM(ol_amount) FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
	creditCustomer: "UPDATE customer SET c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1" +
		" WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",

	orderCount: "SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?",
	lowStock: "SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id >= ? AND ol_o_id < ?" +
		" AND s_w_id = ? AND s_i_id = ol_i_id AND s_quantity < ?",
}

// statements lists all to prepare, in the order of their indexes.
func statements() []string {
	all := texts[:]
	for d := 1; d <= districts; d++ {
		all = append(all[:len(all):len(all)], fmt.Sprintf("SELECT s_quantity, s_data, s_dist_%02d FROM stock WHERE s_i_id = ? AND s_w_id = ? FOR UPDATE", d))
	}
	return all
}
