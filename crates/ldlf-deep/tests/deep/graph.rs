//! Deep models as graphs of standard operators say what the models say: the graphs are computed here node by node, as the operators of
//! ONNX are defined.

use std::collections::BTreeMap;

use burn::module::Module;
use burn::tensor::TensorData;
use ldlf_core::graph::{Attribute, DISTRIBUTIONS, Graph, GraphImages, IMAGES, MEAN, Node, Numbers};
use ldlf_core::{Inputs, Seed, Threads, TrainedModel};
use ldlf_deep::backbones::{Backbone, BackboneKind, Input, Mode};

use crate::small_fits::*;
use crate::support::{device, hashed, input, numbers, with_hashed_weights};

/// A shape with its numbers, row after row.
#[derive(Clone, Debug)]
struct Array(Vec<usize>, Vec<f32>);

impl Array {
    fn of(shape: &[usize], value: impl Fn(usize) -> f32) -> Self {
        let count = shape.iter().product();
        Array(shape.to_vec(), (0..count).map(value).collect())
    }

    /// Two arrays, of which the smaller one is repeated.
    fn broadcast(&self, other: &Array, of: fn(f32, f32) -> f32) -> Array {
        let dims = self.0.len().max(other.0.len());
        let padded = |shape: &[usize]| [vec![1; dims - shape.len()], shape.to_vec()].concat();
        let (left, right) = (padded(&self.0), padded(&other.0));
        let shape: Vec<usize> = left.iter().zip(&right).map(|(&a, &b)| a.max(b)).collect();
        let place = |own: &[usize], place: usize| {
            let (mut rest, mut step, mut at) = (place, 1, 0);
            for dim in (0..dims).rev() {
                let index = rest % shape[dim];
                rest /= shape[dim];
                at += if own[dim] == 1 { 0 } else { index * step };
                step *= own[dim];
            }
            at
        };
        Array::of(&shape, |at| of(self.1[place(&left, at)], other.1[place(&right, at)]))
    }

    fn map(&self, of: impl Fn(f32) -> f32) -> Array {
        Array(self.0.clone(), self.1.iter().map(|&x| of(x)).collect())
    }

    /// `[outer, along, inner]` around an axis.
    fn around(&self, axis: usize) -> [usize; 3] {
        [self.0[..axis].iter().product(), self.0[axis], self.0[axis + 1..].iter().product()]
    }

    /// Chosen places along an axis.
    fn gather(&self, axis: usize, chosen: &[usize]) -> Array {
        let [outer, along, inner] = self.around(axis);
        let mut shape = self.0.clone();
        shape[axis] = chosen.len();
        let mut out = Vec::new();
        for o in 0..outer {
            chosen.iter().for_each(|&c| out.extend(&self.1[(o * along + c) * inner..][..inner]));
        }
        Array(shape, out)
    }

    /// `a b` of the last two axes; `b` or `a` may have two axes and serve all.
    fn product(&self, other: &Array) -> Array {
        let (a, b) = (&self.0, &other.0);
        if b.len() == 1 {
            let column = other.reshaped(vec![b[0], 1]);
            return self.product(&column).reshaped(a[..a.len() - 1].to_vec());
        }
        let (rows, inner, cols) = (a[a.len() - 2], a[a.len() - 1], b[b.len() - 1]);
        let outer = if a.len() > b.len() { &a[..a.len() - 2] } else { &b[..b.len() - 2] };
        let many: usize = outer.iter().product();
        let shape = [outer, &[rows, cols]].concat();
        let start =
            |array: &Array, part: usize, size: usize| if array.1.len() == size { 0 } else { part * size };
        Array::of(&shape, |at| {
            let (part, row, col) = (at / (rows * cols), at / cols % rows, at % cols);
            assert!(part < many);
            let (left, right) = (start(self, part, rows * inner), start(other, part, inner * cols));
            (0..inner).map(|i| self.1[left + row * inner + i] * other.1[right + i * cols + col]).sum()
        })
    }

    fn reshaped(&self, shape: Vec<usize>) -> Array {
        Array(shape, self.1.clone())
    }

    /// Sums over axes, which keep the size 1.
    fn sums(&self, axes: &[usize]) -> Array {
        axes.iter().fold(self.clone(), |array, &axis| {
            let [outer, along, inner] = array.around(axis);
            let mut shape = array.0.clone();
            shape[axis] = 1;
            let sum = |at: usize| {
                let (o, i) = (at / inner, at % inner);
                (0..along).map(|a| array.1[(o * along + a) * inner + i]).sum()
            };
            assert_eq!(shape.iter().product::<usize>(), outer * inner);
            Array::of(&shape, sum)
        })
    }
}

/// The attributes of a node.
struct Attributes<'a>(&'a Node);

impl Attributes<'_> {
    fn ints(&self, name: &str) -> Vec<usize> {
        match self.0.attributes.iter().find(|(known, _)| *known == name) {
            Some((_, Attribute::Ints(ints))) => ints.iter().map(|&i| i as usize).collect(),
            other => panic!("{} has {other:?} as {name}", self.0.operator),
        }
    }

    fn int(&self, name: &str, usual: i64) -> i64 {
        match self.0.attributes.iter().find(|(known, _)| *known == name) {
            Some((_, Attribute::Int(int))) => *int,
            Some(other) => panic!("{other:?}"),
            None => usual,
        }
    }
}

/// Calls `of(out, row, channel, y, x)` with every place of an output, and gives the array of what it says.
fn maps(shape: [usize; 4], of: impl Fn(usize, usize, usize, usize) -> f32) -> Array {
    let [_, channels, height, width] = shape;
    Array::of(&shape, |at| {
        let (x, y) = (at % width, at / width % height);
        of(at / (width * height * channels), at / (width * height) % channels, y, x)
    })
}

/// The side of an output, and which line of the input a line of a window falls on.
fn window(side: usize, kernel: usize, stride: usize, (first, last): (usize, usize)) -> usize {
    (side + first + last - kernel) / stride + 1
}

fn convolution(node: &Attributes<'_>, inputs: &[&Array]) -> Array {
    let (x, w) = (inputs[0], inputs[1]);
    let [rows, channels, height, width] = x.0[..] else { panic!("maps") };
    let [outputs, within, kernel, _] = w.0[..] else { panic!("kernels") };
    let (stride, pads) = (node.ints("strides")[0], node.ints("pads"));
    let groups = node.int("group", 1) as usize;
    assert_eq!(within * groups, channels);
    let out = [height, width];
    let [tall, wide] = [0, 1].map(|axis| window(out[axis], kernel, stride, (pads[axis], pads[axis + 2])));
    maps([rows, outputs, tall, wide], |row, output, y, x_out| {
        let first = output / (outputs / groups) * within;
        let mut sum = inputs.get(2).map_or(0.0, |bias| f64::from(bias.1[output]));
        for channel in 0..within {
            for (ky, kx) in (0..kernel).flat_map(|ky| (0..kernel).map(move |kx| (ky, kx))) {
                let (line, column) =
                    ((y * stride + ky).wrapping_sub(pads[0]), (x_out * stride + kx).wrapping_sub(pads[1]));
                if line < height && column < width {
                    let value = x.1[((row * channels + first + channel) * height + line) * width + column];
                    sum += f64::from(value)
                        * f64::from(w.1[((output * within + channel) * kernel + ky) * kernel + kx]);
                }
            }
        }
        sum as f32
    })
}

fn max_pool(node: &Attributes<'_>, x: &Array) -> Array {
    let [rows, channels, height, width] = x.0[..] else { panic!("maps") };
    let (kernel, stride, pads) = (node.ints("kernel_shape")[0], node.ints("strides")[0], node.ints("pads"));
    let tall = window(height, kernel, stride, (pads[0], pads[2]));
    let wide = window(width, kernel, stride, (pads[1], pads[3]));
    maps([rows, channels, tall, wide], |row, channel, y, x_out| {
        let mut largest = f32::NEG_INFINITY;
        for (ky, kx) in (0..kernel).flat_map(|ky| (0..kernel).map(move |kx| (ky, kx))) {
            let (line, column) =
                ((y * stride + ky).wrapping_sub(pads[0]), (x_out * stride + kx).wrapping_sub(pads[1]));
            if line < height && column < width {
                largest = largest.max(x.1[((row * channels + channel) * height + line) * width + column]);
            }
        }
        largest
    })
}

/// `x / (1 + 0.0001 / size * sum of squares)^0.75`: the operator's usual numbers.
fn local_response(node: &Attributes<'_>, x: &Array) -> Array {
    let [rows, channels, height, width] = x.0[..] else { panic!("maps") };
    let size = node.int("size", 0) as usize;
    let at = |row, channel, y, x| ((row * channels + channel) * height + y) * width + x;
    maps([rows, channels, height, width], |row, channel, y, column| {
        let around = channel.saturating_sub((size - 1) / 2)..(channel + size / 2 + 1).min(channels);
        let squares: f32 = around.map(|c| x.1[at(row, c, y, column)].powi(2)).sum();
        x.1[at(row, channel, y, column)] / (1.0 + 1e-4 / size as f32 * squares).powf(0.75)
    })
}

fn compute(node: &Node, inputs: &[&Array]) -> Vec<Array> {
    let attributes = Attributes(node);
    let x = inputs[0];
    let axis = |usual| attributes.int("axis", usual).rem_euclid(x.0.len() as i64) as usize;
    let whole = |array: &Array| array.1.iter().map(|&v| v as usize).collect::<Vec<usize>>();
    vec![match node.operator {
        "Add" => x.broadcast(inputs[1], |a, b| a + b),
        "Sub" => x.broadcast(inputs[1], |a, b| a - b),
        "Mul" => x.broadcast(inputs[1], |a, b| a * b),
        "Div" => x.broadcast(inputs[1], |a, b| a / b),
        "Relu" => x.map(|v| v.max(0.0)),
        "Sigmoid" => x.map(|v| 1.0 / (1.0 + (-v).exp())),
        "Clip" => x.map(|v| v.max(inputs[1].1[0]).min(inputs[2].1[0])),
        "Flatten" => x.reshaped(vec![x.0[0], x.0[1..].iter().product()]),
        "MatMul" => x.product(inputs[1]),
        "Gemm" => x.product(inputs[1]).broadcast(inputs[2], |a, b| a + b),
        "Conv" => convolution(&attributes, inputs),
        "MaxPool" => max_pool(&attributes, x),
        "LRN" => local_response(&attributes, x),
        "ReduceSum" => x.sums(&whole(inputs[1])),
        "ReduceMean" => {
            let axes = attributes.ints("axes");
            let count: usize = axes.iter().map(|&axis| x.0[axis]).product();
            let kept = (0..x.0.len()).filter(|axis| !axes.contains(axis)).map(|axis| x.0[axis]).collect();
            x.sums(&axes).map(|v| v / count as f32).reshaped(kept)
        }
        "Gather" => x.gather(axis(0), &whole(inputs[1])),
        "Split" => {
            let (mut first, sizes) = (0, whole(inputs[1]));
            let part = |size: usize| {
                first += size;
                x.gather(axis(0), &(first - size..first).collect::<Vec<_>>())
            };
            return sizes.into_iter().map(part).collect();
        }
        "Concat" => {
            assert_eq!((axis(0), x.0.len()), (1, 2));
            let rows = x.0[0];
            let width = inputs.iter().map(|part| part.0[1]).sum();
            let row =
                |row: usize| inputs.iter().flat_map(move |part| &part.1[row * part.0[1]..][..part.0[1]]);
            Array(vec![rows, width], (0..rows).flat_map(row).copied().collect())
        }
        "Softmax" => {
            let powers = x.map(f32::exp);
            let sums = powers.sums(&[x.0.len() - 1]);
            powers.broadcast(&sums, |a, b| a / b)
        }
        "ArgMax" | "Squeeze" => Array(vec![0], Vec::new()),
        other => panic!("{other} is not computed here"),
    }]
}

/// Every value of a graph for an input.
fn values(graph: &Graph, input: Array) -> BTreeMap<String, Array> {
    let mut known = BTreeMap::from([(graph.inputs()[0].name.clone(), input)]);
    for constant in graph.constants() {
        let numbers = match &constant.numbers {
            Numbers::F32(numbers) => numbers.clone(),
            Numbers::I64(numbers) => numbers.iter().map(|&n| n as f32).collect(),
            Numbers::F64(_) => panic!("deep models have single precision"),
        };
        known.insert(constant.name.clone(), Array(constant.shape.clone(), numbers));
    }
    for node in graph.nodes().iter().filter(|node| node.outputs != ["modes", "mode"]) {
        let inputs: Vec<&Array> = node.inputs.iter().filter_map(|name| known.get(name)).collect();
        if inputs.iter().any(|input| input.1.is_empty()) {
            continue;
        }
        let computed = compute(node, &inputs);
        known.extend(node.outputs.iter().cloned().zip(computed));
    }
    known
}

fn assert_alike(found: &[f32], expected: &[f32], place: &str) {
    assert_eq!(found.len(), expected.len(), "{place}");
    let largest = expected.iter().fold(1.0f32, |a, b| a.max(b.abs()));
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 2e-5 * largest, "{place}: {found} {expected}");
    }
}

#[test]
fn the_graph_of_every_backbone_gives_its_features() {
    for &kind in BackboneKind::ALL {
        // Odd sides, and maps that adaptive pooling has to enlarge: the usual sides would hide both.
        let side = kind.smallest_side() + 3;
        let (taken, shape) = match kind.reads_tables() {
            true => (Input::Table { features: 5 }, [2, 5, 1, 1]),
            false => (Input::Images { channels: 3, side }, [2, 3, side, side]),
        };
        let device = device();
        let backbone = Backbone::thinner(kind, taken, 16, Seed::new(0), &device).unwrap().valid();
        let backbone = with_hashed_weights(backbone);
        let x = input("input", shape, 2.0, &device);
        let expected = numbers(backbone.forward(x.clone(), &Mode::Predict));
        assert!(expected.iter().any(|&v| v != 0.0), "{}: zeros would show nothing", kind.name());
        let mut graph = match kind.reads_tables() {
            true => Graph::new(5),
            false => Graph::of_images(GraphImages { side, resized: side }),
        };
        let start = graph.features();
        let features = backbone.add_to_graph(&mut graph, &start);
        let shape = if kind.reads_tables() { vec![2, 5] } else { shape.to_vec() };
        let data: TensorData = x.into_data();
        let found = values(&graph, Array(shape, data.try_into_vec().unwrap()));
        assert_alike(&found[features.name()].1, &expected, kind.name());
    }
}

/// What a graph says about the rows of the small data.
fn by_graph(model: &TrainedModel, inputs: &Inputs) -> BTreeMap<String, Array> {
    let graph = model.graph().unwrap();
    let rows = inputs.rows();
    let input = match graph.images() {
        None => {
            let columns = graph.inputs()[0].sizes[0];
            let mut values = vec![0.0; rows * columns];
            let features = inputs.table().unwrap();
            values.chunks_mut(columns).enumerate().for_each(|(row, out)| features.copy_row_into(row, out));
            Array(vec![rows, columns], values)
        }
        Some(GraphImages { side, resized }) => {
            let mut values = Vec::new();
            for row in 0..rows {
                let image = inputs.images().unwrap().resized(row, resized).unwrap();
                let start = (resized - side) / 2;
                for channel in 0..3 {
                    for y in 0..side {
                        let line = &image.rgb[3 * (start + y) * image.width..];
                        values.extend((0..side).map(|x| f32::from(line[3 * (start + x) + channel])));
                    }
                }
            }
            Array(vec![rows, 3, side, side], values)
        }
    };
    values(&graph, input)
}

#[test]
fn the_graph_of_a_model_says_what_the_model_says() {
    let (images, rows) = (squares(), table());
    let cases: [(&str, &[&str], _); 6] = [
        ("dldlf", &[], &images),
        ("dldlf", &["units=9", "channel_order=bgr", "input_range=255", "input_crop=0.2"], &images),
        ("dldlf", &["channels=1"], &images),
        ("dldl", &[], &images),
        ("dndf-ldl", &["backbone=mlp"], &rows),
        ("dldl", &["backbone=mlp"], &rows),
    ];
    for (learner, more, data) in cases {
        let place = format!("{learner} {more:?}");
        let model = fit(learner, &[more, &["epochs=2"]].concat(), data);
        let inputs = data.inputs();
        let expected = model.predict_with(inputs, &Threads::one()).unwrap().into_distributions().unwrap();
        let found = by_graph(&model, inputs);
        assert_alike(&found[DISTRIBUTIONS].1, expected.as_slice(), &place);
        if data.schema().label_values.is_some() {
            let means: Vec<f32> = expected.as_slice().chunks(3).map(|p| p[1] + 2.0 * p[2]).collect();
            assert_alike(&found[MEAN].1, &means, &place);
        }
    }
}

#[test]
fn a_pixel_that_is_not_a_number_gives_no_distribution() {
    let model = fit("dldl", &["epochs=1"], &squares());
    let graph = model.graph().unwrap();
    assert_eq!(graph.inputs()[0].name, IMAGES);
    let mut pixels: Vec<f32> =
        hashed("pixels", 2 * 3 * 64).iter().map(|u| 128.0 + 100.0 * *u as f32).collect();
    pixels[5] = f32::NAN;
    let found = &values(&graph, Array(vec![2, 3, 8, 8], pixels))[DISTRIBUTIONS].1;
    assert!(found[..3].iter().all(|p| p.is_nan()) && found[3..].iter().all(|p| p.is_finite()), "{found:?}");
}
